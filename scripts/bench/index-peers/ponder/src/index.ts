import { ponder } from 'ponder:registry';
import { transfer } from 'ponder:schema';

type Hex = `0x${string}`;

type Movement = {
  readonly block: { readonly number: bigint };
  readonly transaction: { readonly hash: Hex };
  readonly log: { readonly address: Hex };
  readonly args: { readonly from: Hex; readonly to: Hex };
};

/** What every row has of its event. */
const placeOf = (event: Movement) => ({
  block: event.block.number,
  transaction: event.transaction.hash,
  contract: event.log.address,
  from: event.args.from,
  to: event.args.to,
});

ponder.on('Coin:Transfer', async ({ event, context }) => {
  await context.db.insert(transfer).values({ id: event.id, ...placeOf(event), amount: event.args.value });
});

ponder.on('Collectible:Transfer', async ({ event, context }) => {
  const { tokenId } = event.args;
  await context.db.insert(transfer).values({ id: event.id, ...placeOf(event), tokenId, amount: 1n });
});

ponder.on('Edition:TransferSingle', async ({ event, context }) => {
  const { id: tokenId, value: amount } = event.args;
  await context.db.insert(transfer).values({ id: event.id, ...placeOf(event), tokenId, amount });
});

ponder.on('Edition:TransferBatch', async ({ event, context }) => {
  const { ids, values } = event.args;
  const rows = ids.map((tokenId, place) => ({
    id: `${event.id}-${place}`,
    ...placeOf(event),
    tokenId,
    amount: values[place],
  }));
  await context.db.insert(transfer).values(rows);
});
