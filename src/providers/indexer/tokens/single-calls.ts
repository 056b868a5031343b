import type { CallRound, Failure } from './call-round.ts';
import type { BatchedCall } from './multicall.ts';

/** The outcome of a call. */
export type Tried<T> = { readonly value: T } | Failure | 'unasked';

/** Returns the kept part of an answer. Undefined is the answer of a contract that failed. */
export type Read<T> = (answer: string | undefined) => T;

const atOnce = 12;
const atOnceHurried = 64;
// A hostile contract may burn all its gas.
const gas = 5_000_000n;

/**
 * Sends open calls one by one, and once more those that nodes rejected, and makes sure that nodes answer at all.
 * @returns an entry is undefined where nodes do not answer the call, though they answer another
 * @throws a failure that the nodes caused
 */
export async function settleCalls<T>(
  round: CallRound,
  calls: readonly BatchedCall[],
  read: Read<T>,
  tried: readonly Tried<T>[],
): Promise<(T | undefined)[]> {
  const settled = [...tried];
  const askAll = async (which: Tried<T>) => {
    const places = [...settled.keys()].filter((place) => settled[place] === which);
    for (let start = 0; start < places.length; ) {
      const some = places.slice(start, start + (round.isHurried() ? atOnceHurried : atOnce));
      start += some.length;
      await Promise.all(
        some.map(async (place) => {
          settled[place] = await askOne(round, calls[place], read);
        }),
      );
    }
  };
  await askAll('unasked');
  // Calls that were late before nodes had proven that they answer.
  await askAll('unasked');
  if (!round.isHurried()) await askAll('refused');
  if (settled.some((one) => typeof one === 'string')) await round.confirm();
  return settled.map((one) => (typeof one === 'string' ? undefined : one.value));
}

async function askOne<T>(round: CallRound, call: BatchedCall | undefined, read: Read<T>): Promise<Tried<T>> {
  const asked = call === undefined ? 'unasked' : await round.ask({ ...call, gas });
  return typeof asked === 'string' ? asked : { value: read(asked.answer) };
}
