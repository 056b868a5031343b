import { around, coins, dollars, pay, type StoryBlock, type StoryCaller } from './step.ts';

/** Collectibles have the ids from 0 on; each is made for the wallet at the place of its id. */
export const collectibleCount = 40;

const days = 28;
// Those below are lent out and burned elsewhere in the story.
const firstTradedId = 8;

/** Four weeks in which everybody pays somebody: eight transactions a day in two blocks. */
export function everydayLife(call: StoryCaller, wallets: readonly string[]): StoryBlock[] {
  return Array.from({ length: days }, (_, day) => {
    const at = (place: number) => around(wallets, day + place);
    const id = firstTradedId + day;
    const again = firstTradedId + ((day + days / 2) % days);
    const morning = [
      pay(at(0), at(1), coins(25 + day)),
      call(at(1), 'SampleToken', 'transfer', at(4), dollars(15 + day)),
      trade(call, wallets, { id, from: 0, to: 3 }),
      gift(call, wallets, day),
    ];
    const evening = [
      pay(at(2), at(5), coins(140 - day)),
      pay(at(3), at(7), coins(1)),
      call(at(6), 'SampleToken', 'transfer', at(2), dollars(200 + 3 * day)),
      day < days / 2
        ? call(at(0), 'SampleToken', 'transfer', at(3), dollars(1))
        : trade(call, wallets, { id: again, from: 3, to: 4 }),
    ];
    return [morning, evening];
  }).flat();
}

type Trade = { readonly id: number; readonly from: number; readonly to: number };

/** A collectible goes from one holder to the next; places are counted from the one it was made for. */
function trade(call: StoryCaller, wallets: readonly string[], { id, from, to }: Trade) {
  const holder = around(wallets, id + from);
  const receiver = around(wallets, id + to);
  return call(holder, 'SampleCollectible', 'transferFrom', holder, receiver, BigInt(id));
}

/** A few of the hundred editions that each wallet was given. */
function gift(call: StoryCaller, wallets: readonly string[], day: number) {
  const place = (day + 5) % wallets.length;
  const giver = around(wallets, place);
  const id = BigInt((place % 3) + 1);
  const amount = BigInt((day % 3) + 1);
  return call(
    giver,
    'SampleEdition',
    'safeTransferFrom',
    giver,
    around(wallets, place + 2),
    id,
    amount,
    '0x',
  );
}
