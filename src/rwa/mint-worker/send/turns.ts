import type { Head } from '../../../chain/minting/mint-node.ts';
import type { LaneContext } from '../context/lane-context.ts';
import { inTurn } from '../context/turn-memory.ts';
import {
  listQueuedLines,
  listTransactionCompanies,
  mostLines,
  type QueuedLine,
} from '../stores/queued-nft-store.ts';
import type { OpenTransaction } from '../stores/transaction-store.ts';
import { deferredNfts } from './refusal.ts';

/*
 * Companies are served in turn: the one whose NFTs were sent longest ago is next, whatever others have queued.
 */

/** Lists lines of the queue, the one whose turn it is first; none when nothing can be sent. */
export async function listLinesInTurn(
  context: LaneContext,
  head: Head,
  doneContracts: ReadonlySet<string>,
): Promise<QueuedLine[]> {
  const { db, lease, memory } = context;
  const { turns } = memory;
  const excludedNftIds = deferredNfts(context, head);
  const wanted = { chainId: lease.chainId, excludedContracts: [...doneContracts], excludedNftIds };
  let lines = await listQueuedLines(db, { ...wanted, after: turns.after });
  if (lines.length === 0 && turns.after !== undefined) {
    lines = await listQueuedLines(db, { ...wanted, after: undefined });
  }
  turns.after = lines.length === mostLines ? lines.at(-1) : undefined;
  return inTurn(lines, turns.served, turns.passed);
}

// Of 16 transactions in flight a company alone has at most 12: others find room while it waits for blocks.
const perFreeSlot = 3;
// While others are there, one with its equal share or more leaves as many free as it has: what others send one by one waits
// behind it for its block, and would have no room for the next ones where blocks are slow to come.
const perFreeSlotOfMany = 1;

/** Leaves out the lines of companies that have their share of the transactions in flight, by how many are free. */
export async function withinShares(
  context: LaneContext,
  lines: readonly QueuedLine[],
  inFlight: readonly OpenTransaction[],
): Promise<readonly QueuedLine[]> {
  const { maxInFlight } = context.settings;
  const free = maxInFlight - inFlight.length;
  if (free <= 0) return [];
  if (inFlight.length < free) return lines;
  const inFlightOf = await countInFlight(context, inFlight);
  const companies = new Set([...inFlightOf.keys(), ...lines.map(({ companyId }) => companyId)]);
  const equalShare = maxInFlight / companies.size;
  return lines.filter(({ companyId }) => {
    const has = inFlightOf.get(companyId) ?? 0;
    return has < free * (has < equalShare ? perFreeSlot : perFreeSlotOfMany);
  });
}

/**
 * Counts the transactions in which each company has NFTs. Read once of each transaction: to read some
 * thousand NFTs for each one that is sent took the database nearly as long as to store it.
 */
async function countInFlight(
  { db, memory: { turns } }: LaneContext,
  inFlight: readonly OpenTransaction[],
): Promise<Map<string, number>> {
  const known = turns.companiesInFlight;
  const ids = inFlight.map(({ id }) => id);
  const unknown = ids.filter((id) => !known.has(id));
  const found = unknown.length > 0 ? await listTransactionCompanies(db, unknown) : [];
  const read = new Map(found.map(({ transactionId, companyIds }) => [transactionId, companyIds]));
  const companies = new Map(ids.map((id) => [id, known.get(id) ?? read.get(id) ?? []]));
  turns.companiesInFlight = companies;
  const counts = new Map<string, number>();
  for (const id of [...companies.values()].flat()) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
