import { greatest } from '../../../base/bigint.ts';
import { findFinalBlock } from '../../../chain/finality-store.ts';
import { type BlockRange, scanLogs } from '../../../chain/minting/log-scan.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import { nodeMessage } from '../../../chain/rpc/transport/node-message.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { ClaimSecretVault } from '../../assets/claim-secret.ts';
import {
  type Comparison,
  compareMints,
  comparePage,
  type Disagreement,
  isLostPast,
  isToldOf,
} from '../../minting/compare/compare-page.ts';
import {
  beginRecovery,
  findCompared,
  listContracts,
  listSigners,
} from '../../minting/compare/compared-contract-store.ts';
import { firstBlockOf } from '../../minting/compare/first-block.ts';
import { listTokenRows } from '../../minting/compare/token-row-store.ts';
import { mintsUnlessAborted } from './mint-proof.ts';
import { isMended, queueGone, recoverPage } from './recover-page.ts';
import {
  endRecovery,
  forgetFinalBlocks,
  reopenTransactions,
  type SignerCounts,
  setNonceFloor,
} from './recover-store.ts';

/*
 * Rebuilds rows and nonces from the chain, after the database was restored from an older backup. It repairs pages of
 * blocks one by one, so a run that ends half-way is simply begun again.
 */

export type RecoverRun = {
  readonly db: Database;
  readonly network: Network;
  readonly node: MintNode;
  /** Seals the secrets of lost NFTs; undefined for a dry run, which changes nothing. */
  readonly vault: ClaimSecretVault | undefined;
  /** Accounts of ours in addition to the signers of the lanes that the database knows; EIP-55. */
  readonly signers: readonly string[];
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
};

export type RecoveredFinding = Disagreement & {
  readonly contract: string;
  /** Whether it is fixed, or would be; the others need a person. */
  readonly mended: boolean;
};

export type Recovered = {
  readonly finalized: bigint;
  /** Transactions that had ended and that the chain has lost: they are in flight again, or would be. */
  readonly reopened: number;
  /** Mints of ours that the rows do not have and that are not final yet: recover again when they are. */
  readonly waiting: number;
  /** Contracts that could not be recovered, and why, in words: recover again when the cause is gone. */
  readonly failed: readonly { readonly contract: string; readonly why: string }[];
};

type Chain = {
  readonly head: bigint;
  readonly finalized: bigint;
  readonly signers: readonly string[];
  /** Whether the chain lacks the block that was final before. */
  readonly isRolledBack: boolean;
  /** NFTs whose transactions a run with a vault reopens: what their rows say of the chain is over then. */
  readonly reopened: ReadonlySet<string>;
};

/**
 * Recovers a network. With a vault it lets lanes wait, fixes rows, and lets them go on when nothing is left to wait for and no
 * contract has failed.
 * @throws when a node does not answer about the network; lanes go on waiting then
 */
export async function recoverNetwork(
  run: RecoverRun,
  onFound: (finding: RecoveredFinding) => void,
): Promise<Recovered> {
  const { db, network, node, vault } = run;
  const { chainId } = network;
  const detail = 'The database is being recovered from the chain.';
  if (vault !== undefined) await beginRecovery(db, chainId, detail);
  const head = await node.head();
  const { finalized } = node;
  const signers = [...new Set([...(await listSigners(db, chainId)), ...run.signers])];
  if (signers.length === 0) {
    throw new Error(
      `No signer of network ${chainId} is known: start a worker with its signers once, or name them with --signer.`,
    );
  }
  const isRolledBack = await lacksFinalBlock(run, head.number);
  if (isRolledBack && vault !== undefined) await forgetFinalBlocks(db, chainId);
  const counts: SignerCounts[] = [];
  for (const signer of signers) counts.push(await countsOf(run, signer));
  const { transactions, nftIds } = await reopenTransactions(db, chainId, counts, vault === undefined);
  const chain: Chain = { head: head.number, finalized, signers, isRolledBack, reopened: new Set(nftIds) };
  let waiting = 0;
  const failed: { contract: string; why: string }[] = [];
  const contracts = await listContracts(db, chainId);
  for (const [index, contract] of contracts.entries()) {
    const onProgress = (share: number) =>
      run.onProgress(index * 100 + Math.round(share * 100), contracts.length * 100);
    try {
      waiting += await recoverContract({ ...run, chain, contract, onProgress }, onFound);
    } catch (error) {
      run.signal.throwIfAborted();
      failed.push({ contract, why: nodeMessage(error) });
    }
  }
  if (vault !== undefined) {
    for (const signer of chain.signers) {
      const count = await node.transactionCount(signer, finalized);
      await setNonceFloor(db, { chainId, signer }, count, isRolledBack);
    }
    if (waiting === 0 && failed.length === 0) await endRecovery(db, chainId, finalized);
  }
  return { finalized, reopened: transactions, waiting, failed };
}

/**
 * Counts the transactions of a signer up to the stored final block where the chain still has it, else up to the present
 * block.
 */
async function countsOf({ db, network, node }: RecoverRun, signer: string): Promise<SignerCounts> {
  const latest = await node.transactionCount(signer, 'latest');
  const stored = await findFinalBlock(db, network.chainId);
  const isKept = stored !== undefined && (await node.block(stored.number))?.hash === stored.hash;
  const final = isKept && stored.number > node.finalized ? stored.number : node.finalized;
  return { signer, latest, final: final < 0n ? latest : await node.transactionCount(signer, final) };
}

/** @throws when the node does not have a block of this number yet: it may still get the same one */
async function lacksFinalBlock({ db, network, node }: RecoverRun, head: bigint): Promise<boolean> {
  const known = await findFinalBlock(db, network.chainId);
  if (known === undefined) return false;
  const block = await node.block(known.number);
  if (block !== null) return block.hash !== known.hash;
  throw new Error(
    `The node is at block ${head} and does not have block ${known.number}, which was final before: wait until it has, or name ` +
      `another node: tallystick network update ${network.chainId} --rpc <url>`,
  );
}

type ContractRun = Omit<RecoverRun, 'onProgress'> & {
  readonly chain: Chain;
  readonly contract: string;
  /** @param share 0 to 1 */
  readonly onProgress: (share: number) => void;
};

/** @returns how many mints must become final first */
async function recoverContract(
  run: ContractRun,
  onFound: (finding: RecoveredFinding) => void,
): Promise<number> {
  const { db, node, network, contract, chain, vault, signal, onProgress } = run;
  const { finalized, head, isRolledBack, reopened } = chain;
  const id = { chainId: network.chainId, contract };
  const comparison: Comparison = { db, node, ...id, finalized, signers: new Set(chain.signers) };
  const recoveredTo = (await findCompared(db, id)).recoveredTo;
  if (!(await node.hasCode(contract, head))) return 0;
  const from = await firstBlockOf({ db, node, ...id, newest: head, isRolledBack });
  const scan = (range: BlockRange) => scanLogs(mintsUnlessAborted(node, contract, signal), range);
  const share = (block: bigint) => Number(block - from + 1n) / Math.max(1, Number(head - from + 1n));
  const tell = (each: Disagreement, mended: boolean) => onFound({ ...each, contract, mended });
  const missing: Disagreement[] = [];
  for await (const { logs: mints, ...page } of scan({ from, to: finalized })) {
    const found = (await comparePage(comparison, { ...page, mints })).filter(
      (each) => !isToldOf(recoveredTo, each) && !isReopened(reopened, each),
    );
    if (vault !== undefined) await recoverPage(db, id, vault, found);
    for (const each of found)
      if (each.kind === 'no_token') missing.push(each);
      else tell(each, isMended(each));
    onProgress(share(page.to));
  }
  // Only a chain that lost what was final takes tokens away. Elsewhere a node may hide the mint of a burned token, so a person decides.
  const gone = new Set(isRolledBack ? await provenGone(run, { from, to: head }, missing) : []);
  if (vault !== undefined) await queueGone(db, id, [...gone]);
  for (const each of missing) tell(each, gone.has(each));
  let waiting = 0;
  for await (const { logs } of scan({ from: greatest(from, finalized + 1n), to: head })) {
    for await (const each of compareMints(comparison, logs)) if (isLostPast(each)) waiting += 1;
  }
  return waiting;
}

// The topics of a question for logs.
const mostTokens = 100;

/**
 * Those tokens of which the whole chain has neither a mint nor, at its newest block, an owner: any transaction may mint them. A row
 * without a recipient, which somebody has made by hand, needs a person.
 */
async function provenGone(
  { db, network: { chainId }, node, contract, signal }: ContractRun,
  range: BlockRange,
  missing: readonly Disagreement[],
): Promise<Disagreement[]> {
  const gone: Disagreement[] = [];
  for (let first = 0; first < missing.length; first += mostTokens) {
    const tokens = missing.slice(first, first + mostTokens);
    const tokenIds = tokens.map(({ tokenId }) => tokenId);
    const rows = await listTokenRows(db, { chainId, contract }, tokenIds);
    const known = new Set(rows.flatMap(({ nft, tokenId }) => (nft?.recipient ? [tokenId] : [])));
    const ask = mintsUnlessAborted(node, contract, signal, tokenIds);
    const seen = new Set<string>();
    for await (const { logs } of scanLogs(ask, range)) for (const { tokenId } of logs) seen.add(tokenId);
    for (const each of tokens) {
      const isThere =
        seen.has(each.tokenId) || (await node.ownerOf(contract, each.tokenId, range.to)) !== null;
      if (!isThere && known.has(each.tokenId)) gone.push(each);
    }
  }
  return gone;
}

/** Whether the lane of its reopened transaction finds out about a token: what its row says is over then. */
const isReopened = (reopened: ReadonlySet<string>, { kind, nftId }: Disagreement) =>
  (kind === 'no_token' || kind === 'other_recipient') && nftId !== null && reopened.has(nftId);
