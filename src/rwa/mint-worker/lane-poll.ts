import { least } from '../../base/bigint.ts';
import { findFinalBlock, saveFinalBlock } from '../../chain/finality-store.ts';
import { createMintNode, type Head } from '../../chain/minting/mint-node.ts';
import { type MintSigner, SignerUnavailableError } from '../../chain/minting/signer.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { isNewer } from '../../chain/rpc/pool/node-consensus.ts';
import type { PinnedNode } from '../../chain/rpc/pool/pinned-node.ts';
import { NodesUnavailableError } from '../../chain/rpc/transport/node-fault.ts';
import { inOwnSpan } from '../../tracing/in-span.ts';
import { isOfNode } from './context/inquiry.ts';
import type { LaneContext, LaneDeps } from './context/lane-context.ts';
import { createLaneMemory, type LaneMemory } from './context/lane-memory.ts';
import { listResting } from './context/rests.ts';
import { pauseForLostNonces } from './lost-nonces.ts';
import { firstOf, pauseForWatchOnly, pauseInFlight, pauseOfNodes, withFinality } from './pauses.ts';
import { send, type ToSend } from './send/send.ts';
import { createStandstillSweep } from './standstill.ts';
import { findLaneWork, type LaneLease, type LaneWork, type Pause } from './stores/lane-store.ts';
import { type DueRefresh, findDueRefresh } from './stores/refresh-store.ts';
import { rebroadcastStored } from './watch/resend/rebroadcast.ts';
import { watch } from './watch/watch.ts';

type Work = LaneWork & ToSend;

type PollOptions = {
  /** Takes what the lane was notified for since the last poll, each a `traceparent`. */
  readonly takeCauses: () => readonly string[];
  readonly stopping: AbortSignal;
};

// A reorganisation may not change the newest block. Only a check of older blocks finds it then.
const maxWatchIntervalMs = 5_000;

/**
 * Creates the poll of a lane: it watches the transactions in flight, then sends what is queued. With nothing to
 * do it costs two queries and no call to a node. Everything that a poll asks is asked of one node; when that fails the
 * poll rejects, and the next one may choose another.
 * @returns why the lane does not send; undefined when nothing is wrong
 */
export function createLanePoll(
  deps: LaneDeps,
  lease: LaneLease,
  { takeCauses, stopping }: PollOptions,
): () => Promise<Pause | undefined> {
  const { db, watchOnly, settings, log, step, now, findNetwork, pinNode, tracing } = deps;
  const memory = createLaneMemory();
  const signer = noteFaults(deps.signer, memory);
  const sweepStandstill = createStandstillSweep();
  let watchedHead: string | undefined;
  let watchedAt = Number.NEGATIVE_INFINITY;

  /** A lane without its key reports nothing. */
  const findRefresh = async (): Promise<DueRefresh | undefined> => {
    const seconds = settings.refreshSeconds;
    if (watchOnly || seconds === 0) return undefined;
    return findDueRefresh(db, lease, { seconds, excludedContracts: listResting({ memory, now }, 'reports') });
  };

  const pollWork = async (work: Work): Promise<Pause | undefined> => {
    const network = await findNetwork(lease.chainId);
    if (network === undefined) return undefined;
    const known = await findFinalBlock(db, lease.chainId);
    const pinned = await pinNode(network, known);
    if (pinned.rolledBack !== undefined) return { reason: 'chain_rolled_back', detail: pinned.rolledBack };
    const { lasting } = pinned;
    if (isNewer(lasting, known)) await saveFinalBlock(db, lease.chainId, lasting);
    const stored = isNewer(lasting, known) ? lasting : known;
    // What this poll alone takes for final is stored by the next one. Nothing is finalized above what is stored.
    const finalized = stored === undefined ? -1n : least(stored.number, pinned.finalized);
    try {
      return await pollNode(network, pinned, finalized, work);
    } catch (error) {
      // The pool notices nodes without an answer. It does not notice useless answers.
      if (isOfNode(error) && !(error instanceof NodesUnavailableError)) pinned.preferOthers();
      throw error;
    }
  };

  const pollNode = async (
    network: Network,
    pinned: PinnedNode,
    finalized: bigint,
    work: Work,
  ): Promise<Pause | undefined> => {
    const node = createMintNode(pinned.provider, { ...pinned, finalized });
    const own = { db, signer, watchOnly, settings, log, step, now, lease };
    const context: LaneContext = { ...own, network, node, memory, stopping };
    const { disagreement } = pinned;
    if (disagreement !== undefined) {
      if (work.hasUnconfirmed) await rebroadcastStored(context);
      return { reason: 'nodes_disagree', detail: disagreement };
    }

    // The block that is stored may be older: a restored database has that of its backup, and lost mints are above it.
    if (pinned.finalized >= 0n) memory.compared.to ??= pinned.finalized;
    const rolledBack = await pauseForLostNonces(context);
    if (rolledBack !== undefined) return rolledBack;
    const head = await node.head();
    // At each block the signer is asked again.
    if (head.hash !== watchedHead) memory.signerFault = undefined;
    const isDue = head.hash !== watchedHead || now() - watchedAt >= maxWatchIntervalMs;
    if (work.hasOpen && isDue) {
      await watch(context, head);
      watchedHead = head.hash;
      watchedAt = now();
    }
    const pause = await (watchOnly ? pauseForWatchOnly(context) : sendSigned(context, head, work));
    const known = firstOf(pause, pauseInFlight(context) ?? pauseOfNodes(pinned, work));
    const { isLasting = false, why } = pinned.finalityUnknown ?? {};
    return sweepStandstill(context, withFinality(known, pinned), isLasting ? why : undefined);
  };

  return async () => {
    const causes = takeCauses();
    const [found, refresh] = await Promise.all([findLaneWork(db, lease), findRefresh()]);
    const work = { ...found, refresh };
    if (!work.hasOpen && !work.hasQueued && refresh === undefined) return undefined;
    return inOwnSpan(tracing, spanOf(lease), causes, async (span) => {
      const pause = await pollWork(work);
      span?.tell({ 'tallystick.pause': pause?.reason });
      return pause;
    });
  };
}

/** Sends what is queued. When the signer does not sign, that becomes the pause, and the rest of the poll goes on. */
async function sendSigned(context: LaneContext, head: Head, work: ToSend): Promise<Pause | undefined> {
  const pause = await send(context, head, work).catch((error: unknown) => {
    if (error instanceof SignerUnavailableError) return undefined;
    throw error;
  });
  const { signerFault } = context.memory;
  return signerFault === undefined ? pause : { reason: 'signer_unavailable', detail: signerFault };
}

const spanOf = ({ chainId, signer }: LaneLease) =>
  ({
    name: 'poll mint lane',
    kind: 'internal',
    facts: { 'tallystick.chain_id': chainId, 'tallystick.signer': signer },
  }) as const;

// The text comes from the keeper of the key.
const maxWords = 500;

/** Creates the signer of a lane. While it does not sign, the memory of the lane has the reason. */
function noteFaults(signer: MintSigner, memory: Pick<LaneMemory, 'signerFault'>): MintSigner {
  return {
    address: signer.address,
    async sign(transaction) {
      try {
        const signed = await signer.sign(transaction);
        memory.signerFault = undefined;
        return signed;
      } catch (error) {
        if (error instanceof SignerUnavailableError) memory.signerFault = error.message.slice(0, maxWords);
        throw error;
      }
    },
  };
}
