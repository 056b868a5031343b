import type { Logger } from '../../../base/log.ts';
import { type LogWidth, scanLogs } from '../../../chain/minting/log-scan.ts';
import type { Head, MintNode } from '../../../chain/minting/mint-node.ts';
import type { Database } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import {
  type Comparison,
  comparePage,
  type Disagreement,
  isLostPast,
  isToldOf,
} from '../../minting/compare/compare-page.ts';
import {
  beginRecovery,
  type ComparedContract,
  findCompared,
  listSigners,
  saveDisagreements,
  setCompared,
} from '../../minting/compare/compared-contract-store.ts';
import { firstBlockOf } from '../../minting/compare/first-block.ts';
import type { ContractId } from '../../minting/compare/token-row-store.ts';
import { createInquiry, isOfNode, PacedError, wordsOf } from '../context/inquiry.ts';
import type { LaneContext } from '../context/lane-context.ts';
import type { Pause } from '../stores/lane-store.ts';

// The newest block may stay the same for long. A node that failed is asked again meanwhile.
const longestLookMs = 5_000;
// For all contracts together, since questions for logs are expensive.
const mostQuestions = 10;

/**
 * Compares a contract with the rows before the lane sends to it, up to the block that was final when the process took the
 * lane. A restored database may lack what the chain has.
 * @returns why nothing may be sent to the contract yet; a recovery is needed for the whole network
 */
export async function pauseForComparison(
  context: LaneContext,
  head: Head,
  contract: string,
): Promise<Pause | undefined> {
  const { db, lease, log, memory, node, stopping } = context;
  const { compared } = memory;
  if (compared.contracts.has(contract)) return undefined;
  const { to } = compared;
  // Nothing can be compared while nothing is final.
  if (to === undefined) return undefined;
  try {
    const row = await findCompared(db, { chainId: lease.chainId, contract });
    const ask = askInLook(context, head);
    const { width } = memory;
    for await (const { lost } of compareFinal({ db, log, node, contract: row, to, ask, width })) {
      if (lost !== undefined) return { reason: 'recovery_needed', detail: lost };
    }
    compared.contracts.add(contract);
    return undefined;
  } catch (error) {
    if (error instanceof PacedError || stopping.aborted) {
      const detail = `Before anything is sent, what was minted on ${contract} is compared with the rows; a few blocks at a time.`;
      return { reason: 'history_searched', detail };
    }
    if (!isOfNode(error)) throw error;
    node.preferOthers();
    return {
      reason: 'history_unavailable',
      detail: `No node gives what was minted on ${contract}, to be compared with the rows: ${wordsOf(error)}`,
    };
  }
}

/** Returns how questions are asked at this block. All polls and contracts share the limit of them. */
function askInLook(context: LaneContext, head: Head) {
  const { memory, now } = context;
  const { look } = memory.compared;
  if (look?.hash === head.hash && now() - look.at < longestLookMs) return look.ask;
  const { ask } = createInquiry(context, mostQuestions);
  memory.compared.look = { hash: head.hash, at: now(), ask };
  return ask;
}

export type ComparisonRun = {
  readonly db: Database;
  readonly log: Logger;
  readonly node: MintNode;
  readonly contract: ComparedContract;
  /** The newest block to compare, which is final. */
  readonly to: bigint;
  /** Asks one question, for those who pace them. */
  readonly ask?: <T>(question: () => Promise<T>) => Promise<T>;
  readonly width?: LogWidth;
};

/**
 * Compares the final blocks of a contract that are not compared yet with the rows, part by part. It stores its progress and
 * each disagreement. The network waits for a recovery when the chain has mints of ours that the database lacks.
 * @returns an iteration that ends when everything up to `to` is compared; each item is a part, with why lanes must wait
 * @throws when the node does not answer
 */
export async function* compareFinal(run: ComparisonRun): AsyncGenerator<{ readonly lost?: string }> {
  const { db, node, contract, to, ask = (question) => question(), width } = run;
  const id: ContractId = { chainId: contract.chainId, contract: contract.contract };
  const from =
    contract.comparedTo === null
      ? await firstBlockOf({ db, node, ...id, newest: to })
      : contract.comparedTo + 1n;
  if (contract.comparedTo === null) await setCompared(db, id, from - 1n);
  if (from > to) return;
  const signers = new Set(await listSigners(db, id.chainId));
  const comparison: Comparison = { db, node, ...id, signers, finalized: to };
  const parts = scanLogs((part) => ask(() => node.mintsIn(id.contract, part)), { from, to }, width);
  for await (const { logs: mints, ...part } of parts) {
    const isNews = (each: Disagreement) => !isExpected(contract, each);
    const isLost = (each: Disagreement) => isNews(each) && isLostPast(each);
    const found = (await comparePage(comparison, { ...part, mints }, isLost)).filter(isNews);
    const lost = found.find(isLostPast);
    const news = await inTransaction(db, async (tx) => {
      // A recovery compares everything again.
      if (lost === undefined) await setCompared(tx, id, part.to);
      return saveDisagreements(tx, id, found);
    });
    for (const { kind, tokenId, nftId, detail } of news) {
      run.log.error({ ...id, kind, tokenId, nftId, detail }, 'a mint and its row disagree');
    }
    if (lost === undefined) yield {};
    else {
      const what = lost.facts?.isOfOthers
        ? 'The chain has mints that others sent'
        : 'The database is older than the chain';
      const detail = `${what}. On ${id.contract}, token ${lost.tokenId}: ${lost.detail}.`;
      await beginRecovery(db, id.chainId, detail);
      yield { lost: detail };
      return;
    }
  }
}

/** Whether a recovery has reported the disagreement, or a lane is about to write the mint. */
const isExpected = ({ recoveredTo }: ComparedContract, found: Disagreement): boolean =>
  found.kind === 'not_recorded' ? found.nftState === 'submitted' : isToldOf(recoveredTo, found);
