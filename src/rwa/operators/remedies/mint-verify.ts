import { firstBlockSince } from '../../../chain/minting/first-block-since.ts';
import { scanLogs } from '../../../chain/minting/log-scan.ts';
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
import { findCompared, listContracts, listSigners } from '../../minting/compare/compared-contract-store.ts';
import { firstBlockOf } from '../../minting/compare/first-block.ts';
import { compareOwners, type OwnerFinding } from '../../ownership/verify-owners.ts';
import { mintsUnlessAborted } from './mint-proof.ts';

/*
 * Compares every mint of a network's contracts with the rows, and the owners of tokens with `ownerOf`. A page of blocks at a time is
 * in memory.
 */

export type ChainFinding = (Disagreement | OwnerFinding) & {
  readonly chainId: string;
  readonly contract: string;
};

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
    const tell = (found: readonly (Disagreement | OwnerFinding)[]) => {
      for (const each of found) onFound({ chainId, contract, ...each });
    };
    const recoveredTo = (await findCompared(db, { chainId, contract })).recoveredTo;
    if (from === null) {
      tell(await findOfNoContract(comparison));
      continue;
    }
    const isFromFirst = run.since === undefined;
    // Rows that name a block in which no mint can be.
    if (isFromFirst) tell(await findMissingTokens(comparison, { from: 0n, to: from - 1n }, []));
    tell(await findMissingTokens(comparison, { from: plan.head + 1n, to: undefined }, []));
    const ask = mintsUnlessAborted(node, contract, signal);
    for await (const { logs: mints, ...page } of scanLogs(ask, { from, to: finalized })) {
      const found = await comparePage(comparison, { ...page, mints });
      tell(found.filter((each) => !isToldOf(recoveredTo, each)));
      tokens += mints.length;
      done += blocksFrom(page.from, page.to);
      run.onProgress(done, total);
    }
    if (!isFromFirst) continue;
    for await (const finding of compareOwners({ db, node, chainId, contract, signal })) tell([finding]);
  }
  return { chainId, contracts: plan.contracts.length, tokens, toBlock: finalized };
}

const blocksFrom = (from: bigint | null, to: bigint) =>
  from === null || to < from ? 0 : Number(to - from + 1n);

async function planComparison({ db, network, node, since }: VerifyRun): Promise<Plan> {
  const head = await node.head();
  const { finalized } = node;
  const signers = new Set(await listSigners(db, network.chainId));
  const contracts = await listContracts(db, network.chainId);
  const planned = await Promise.all(
    contracts.map(async (contract) => {
      if (!(await node.hasCode(contract, head.number))) return { contract, from: null };
      const search = { db, node, chainId: network.chainId, contract, newest: finalized };
      return {
        contract,
        from: since ? await firstBlockSince(node, since, finalized) : await firstBlockOf(search),
      };
    }),
  );
  return { finalized, head: head.number, signers, contracts: planned };
}
