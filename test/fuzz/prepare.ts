import { createFacts } from '../contract/facts.ts';
import type { Session } from '../contract/session.ts';
import type { FuzzContext } from './fuzz-context.ts';
import type { Target } from './local-target.ts';

const events = 5;

type Listed = readonly { readonly id: string }[];

/** Finds out what there is to ask for, and makes the events that all properties share. */
export async function prepareContext(session: Session, target: Target): Promise<FuzzContext> {
  const facts = createFacts(session);
  const made: string[] = [];
  for (let number = 0; number < events; number += 1)
    made.push((await session.makeEvent({ name: `Fuzz ${number}, may be deleted` })).id);
  const { rwas } = await session.ask<{ rwas: Listed }>('listRwas');
  const mintable = await facts.mintableRwa().then(
    ({ id }) => id,
    () => undefined,
  );
  const nfts =
    mintable === undefined
      ? []
      : (
          await session.ask<{ nfts: Listed }>('createRwaNfts', {
            ids: { rwaId: mintable },
            body: { count: 50 },
          })
        ).nfts;
  const { key, otherKey, wallets, token, door } = target;
  const changed = await session.ask<{ id: string }>('createRwa', { ids: { chainId: await facts.chainId() } });
  return {
    key,
    otherKey,
    wallets,
    token,
    mintable,
    door,
    chainIds: [await facts.chainId()],
    pool: {
      event: (number) => made[number % made.length] ?? '',
      rwa: from(rwas),
      changedRwa: from([changed]),
      nft: from(nfts),
    },
  };
}

/** One of them by its number; an id that nothing has where there is none. */
function from(things: Listed): (number: number) => string {
  return (number) =>
    things[number % Math.max(1, things.length)]?.id ?? '00000000-0000-4000-8000-000000000000';
}
