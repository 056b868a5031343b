import { setTimeout as pause } from 'node:timers/promises';
import type { Network } from '../../chain/network.ts';
import { createLaneMemory, type LaneContext } from './lane-context.ts';
import { type LaneId, type LaneStore, type Lease, LeaseLostError, type Pause } from './lane-store.ts';
import { send } from './send.ts';
import { workOf } from './transaction-store.ts';
import { watch } from './watch.ts';

export type Lane = LaneId & {
  /** Looks at once, or as soon as the present look is over. */
  wake(): void;
  /** Whether this process holds the lane. */
  isHeld(): boolean;
  /** Ends after the present look and gives the lane back. */
  stop(): Promise<void>;
};

type LaneOptions = Omit<LaneContext, 'lease' | 'network' | 'node' | 'memory' | 'stopping'> & {
  readonly lane: LaneId;
  readonly findNetwork: (chainId: string) => Promise<Network | undefined>;
  readonly nodeOf: (network: Network) => LaneContext['node'];
  /** Names this process to people. */
  readonly holder: string;
};

// A block that reorganised nothing looks like one that did until its hash is asked for.
const longestWithoutWatchMs = 5_000;

/** Works on one lane for as long as it can have it: waits for the lease, then watches and sends by turns. */
export function startLane(options: LaneOptions): Lane {
  const { lane, lanes, log, settings } = options;
  const stopping = new AbortController();
  const bell = createBell();
  let held = false;

  const run = async () => {
    while (!stopping.signal.aborted) {
      const lease = await lanes.acquire(lane, options.holder, settings.leaseSeconds).catch((err: unknown) => {
        log.warn({ err, ...lane }, 'mint lane cannot be asked for');
        return undefined;
      });
      if (lease === undefined) await bell.wait(settings.pollMs);
      else {
        held = true;
        await workUnderLease(options, lease, bell, stopping.signal);
        held = false;
      }
    }
  };
  const over = run();

  return {
    ...lane,
    wake: bell.ring,
    isHeld: () => held,
    async stop() {
      stopping.abort();
      bell.ring();
      await over;
    },
  };
}

async function workUnderLease(options: LaneOptions, lease: Lease, bell: Bell, stopping: AbortSignal) {
  const { lanes, log, settings } = options;
  const keeper = keepLease(lanes, lease, settings.leaseSeconds);
  const turn = createTurn(options, lease, stopping);
  try {
    await options.step('taken', {});
    while (!stopping.aborted && keeper.isGood()) {
      await turn().catch((err: unknown) => {
        if (err instanceof LeaseLostError) throw err;
        log.warn({ err, ...lease }, 'mint lane could not go on, and will try again');
      });
      await bell.wait(settings.pollMs);
    }
  } catch (err) {
    log.warn({ err, ...lease }, 'mint lane lost');
  } finally {
    keeper.stop();
    await lanes
      .release(lease)
      .catch((err: unknown) => log.warn({ err, ...lease }, 'mint lane not given back'));
  }
}

/** One look at the chain and at what waits. Costs one query, and nothing of the nodes, when there is nothing. */
function createTurn(options: LaneOptions, lease: Lease, stopping: AbortSignal): () => Promise<void> {
  const { db, lanes, now, findNetwork, nodeOf, step } = options;
  const memory = createLaneMemory();
  let lastHead: string | undefined;
  let watchedAt = Number.NEGATIVE_INFINITY;
  let noted: string | undefined = 'nothing yet';
  let paused = false;

  const note = async (found: Pause | undefined) => {
    const text = found && `${found.reason} ${found.detail}`;
    if (text === noted) return;
    await lanes.setPause(lease, found);
    const wasPaused = paused;
    noted = text;
    paused = found !== undefined;
    if (found !== undefined) await step('paused', found);
    else if (wasPaused) await step('resumed', {});
  };

  return async () => {
    const { isOpen, isWaiting } = await workOf(db, lease);
    if (!isOpen && !isWaiting) return note(undefined);
    const network = await findNetwork(lease.chainId);
    if (network === undefined) return;
    const context: LaneContext = { ...options, lease, network, node: nodeOf(network), memory, stopping };
    const head = await context.node.head();
    const isDue = head.hash !== lastHead || now() - watchedAt >= longestWithoutWatchMs;
    if (isOpen && isDue) {
      await watch(context, head);
      lastHead = head.hash;
      watchedAt = now();
    }
    const found = await send(context, head);
    if (!stopping.aborted) await note(found ?? lackOf(context));
  };
}

/** What is in flight cannot go on without money either. */
function lackOf({ memory, signer }: LaneContext): Pause | undefined {
  if (memory.unpaid.size === 0) return undefined;
  return { reason: 'balance_too_low', detail: `${signer.address} has too little for what it has signed.` };
}

/** Renews the lease in time, until somebody else has it. */
function keepLease(lanes: LaneStore, lease: Lease, seconds: number) {
  let good = true;
  const timer = setInterval(
    () => {
      // A database that does not answer decides nothing: the fence does.
      lanes.renew(lease, seconds).then(
        (renewed) => (good = good && renewed),
        () => {},
      );
    },
    (seconds * 1_000) / 3,
  );
  return { isGood: () => good, stop: () => clearInterval(timer) };
}

type Bell = { ring(): void; wait(ms: number): Promise<void> };

/** A ring while nobody waits is heard by the next who does. */
function createBell(): Bell {
  let rung = false;
  let hear = () => {};
  return {
    ring() {
      rung = true;
      hear();
    },
    async wait(ms) {
      if (!rung) {
        const heard = new AbortController();
        hear = () => heard.abort();
        await pause(ms, undefined, { signal: heard.signal }).catch(() => {});
      }
      rung = false;
    },
  };
}
