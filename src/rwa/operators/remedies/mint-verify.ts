import { mintPages } from '../../../chain/minting/mint-history.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { Database } from '../../../contract/transaction.ts';
import {
  type Comparison,
  comparePage,
  type Disagreement,
  findMissingTokens,
  findOfNoContract,
  isToldOf,
} from '../../minting/compare/compare-page.ts';
import {
  findClaimedContract,
  listContracts,
  listSigners,
} from '../../minting/compare/contract-claim-store.ts';
import { findOriginIfShown } from '../../minting/compare/contract-origin.ts';

/*
 * Compares every mint of a network's contracts with the rows. A page of blocks at a time is in memory.
 */

export type ChainFinding = Disagreement & { readonly chainId: string; readonly contract: string };

export type VerifyRun = {
  readonly db: Database;
  readonly network: Network;
  readonly node: MintNode;
  /** Blocks before this time are left out. */
  readonly since?: Date | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
};

export type Verified = {
  readonly chainId: string;
  readonly contracts: number;
  /** Tokens that were compared. */
  readonly tokens: number;
  /** The newest block that was compared. */
  readonly toBlock: bigint;
};

/** The contracts of a network, and the first block to compare of each; null where there is no contract. */
type Plan = {
  readonly finalized: bigint;
  readonly head: bigint;
  readonly signers: ReadonlySet<string>;
  readonly contracts: readonly { readonly contract: string; readonly from: bigint | null }[];
};

/**
 * Compares a network and hands over what disagrees, as it is found.
 * @throws when a node does not answer; nothing is concluded from that
 */
export async function verifyNetwork(
  run: VerifyRun,
  onFound: (finding: ChainFinding) => void,
): Promise<Verified> {
  const { db, network, node, signal } = run;
  const { chainId } = network;
  const plan = await planComparison(run);
  const { finalized, signers } = plan;
  const total = plan.contracts.reduce((sum, { from }) => sum + blocksFrom(from, finalized), 0);
  let done = 0;
  let tokens = 0;
  for (const { contract, from } of plan.contracts) {
    const comparison: Comparison = { db, node, chainId, contract, signers, finalized };
    const tell = (found: readonly Disagreement[]) => {
      for (const each of found) onFound({ chainId, contract, ...each });
    };
    const recoveredTo = (await findClaimedContract(db, { chainId, contract }))?.recoveredTo ?? null;
    if (from === null) {
      tell(await findOfNoContract(comparison));
      continue;
    }
    const isFromFirst = run.since === undefined;
    // Rows that name a block in which no mint can be.
    if (isFromFirst) tell(await findMissingTokens(comparison, { from: 0n, to: from - 1n }, []));
    tell(await findMissingTokens(comparison, { from: plan.head + 1n, to: undefined }, []));
    for await (const page of mintPages(node, contract, { from, to: finalized }, signal)) {
      const found = await comparePage(comparison, page);
      tell(found.filter((each) => !isToldOf(recoveredTo, each)));
      tokens += page.mints.length;
      done += blocksFrom(page.from, page.to);
      run.onProgress(done, total);
    }
  }
  return { chainId, contracts: plan.contracts.length, tokens, toBlock: finalized };
}

const blocksFrom = (from: bigint | null, to: bigint) =>
  from === null || to < from ? 0 : Number(to - from + 1n);

async function planComparison({ db, network, node, since }: VerifyRun): Promise<Plan> {
  const head = await node.head();
  const finalized = await node.finalized(head, network.finalityDepth);
  const signers = new Set(await listSigners(db, network.chainId));
  const contracts = await listContracts(db, network.chainId);
  const first = since === undefined ? undefined : await firstBlockSince(node, since, finalized);
  const planned = await Promise.all(
    contracts.map(async (contract) => {
      const search = { db, node, chainId: network.chainId, contract, newest: head.number };
      const created = await findOriginIfShown(search);
      return { contract, from: created === null ? null : (first ?? created ?? 0n) };
    }),
  );
  return { finalized, head: head.number, signers, contracts: planned };
}

/** The first final block of this time or later; the block after the last final one when none is. */
async function firstBlockSince(node: MintNode, since: Date, finalized: bigint): Promise<bigint> {
  let low = 0n;
  let high = finalized + 1n;
  while (low < high) {
    const middle = (low + high) / 2n;
    const block = await node.block(middle);
    if (block === null) throw new Error(`The node does not have block ${middle}.`);
    if (block.time.getTime() < since.getTime()) low = middle + 1n;
    else high = middle;
  }
  return low;
}
