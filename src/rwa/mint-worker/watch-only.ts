import type { MintSigner } from '../../chain/minting/signer.ts';
import type { LaneDeps } from './context/lane-context.ts';
import { type Lane, startLane } from './lane.ts';
import type { LaneSigner } from './staff.ts';
import { type LaneId, listUnstaffedLanes } from './stores/lane-store.ts';

/** The signer of a lane whose key this process does not have. */
function createAbsentSigner(address: string): MintSigner {
  return { address, sign: () => Promise.reject(new Error(`This process has no key of ${address}.`)) };
}

/** Lanes that nobody signs for, and that this process watches meanwhile. */
export type WatchedLanes = {
  /** Begins to watch lanes that have been without a process with their key for a minute and have work. */
  adopt(): Promise<void>;
  notify(): void;
  stop(): Promise<void>;
};

/**
 * Creates the watch over lanes whose signers are gone from the settings of all processes. Receipts need no key: what
 * was sent still becomes minted, and what was not says why. Each lane is given up to a process that has its key.
 * @param own returns the signers that this process has at present
 */
export function createWatchedLanes(
  deps: (lane: LaneId, signer: MintSigner) => Omit<LaneDeps, 'watchOnly'>,
  { db, own }: Pick<LaneDeps, 'db'> & { readonly own: () => readonly LaneSigner[] },
): WatchedLanes {
  const watched = new Map<string, Lane>();
  let isStopped = false;
  const isOurs = ({ chainId, signer }: LaneId) =>
    own().some((each) => each.chainId === chainId && each.signer.address === signer);

  const watch = (lane: LaneId) => {
    const key = `${lane.chainId} ${lane.signer}`;
    if (watched.has(key)) return;
    const given = deps(lane, createAbsentSigner(lane.signer));
    const started = startLane({ ...given, watchOnly: true });
    watched.set(key, started);
    started.ended.then(() => watched.delete(key));
  };

  return {
    async adopt() {
      for (const lane of await listUnstaffedLanes(db)) if (!isOurs(lane) && !isStopped) watch(lane);
    },
    notify() {
      for (const lane of watched.values()) lane.notify();
    },
    async stop() {
      isStopped = true;
      await Promise.all([...watched.values()].map((lane) => lane.stop()));
    },
  };
}
