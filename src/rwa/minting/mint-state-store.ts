import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { stateOfRow } from '../assets/mint-state-sql.ts';
import type { MintState } from '../assets/nft-row.ts';
import { saveMintNotes } from './mint-note-store.ts';

/*
 * Every change of an NFT's state on its way to the chain. Nothing else updates `mint_state`, except a recovery after a
 * restore (`mint-repair-store.ts`).
 *
 *   unclaimed, failed ── queueNfts ──► queued ── submitNfts ──► submitted ── mintNfts ──► minted
 *   (new) ────────────── insertNfts ──┘│  ▲                         │  ▲                     │
 *                                      │  └────── releaseNfts ──────┤  └──── unmintNfts ─────┘
 *                                      └─ refuseNft ──► failed ◄────┴─ failNfts
 *   queued, failed ── cancelNft ──► unclaimed
 *   queued, failed, unclaimed ── keepOut ──► submitted ── releaseNfts ──► what it was
 *
 * A row in another state than the caller assumes is an error: then nothing of the transaction stays.
 */

type Queued = {
  readonly id: string;
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly recipient: string;
};

/**
 * Accepts mints of NFTs whose rows are locked.
 * @throws Error when one is neither `unclaimed` nor `failed`
 */
export async function queueNfts(tx: Tx, nfts: readonly Queued[]): Promise<void> {
  if (nfts.length === 0) return;
  const { rowCount } = await prepared(
    tx,
    'queue_nfts',
    `UPDATE nfts n SET mint_state = 'queued', recipient = w.recipient, mint_error = NULL,
       mint_chain_id = w.chain_id, mint_contract = r.contract_address, queued_at = clock_timestamp()
     FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS w (id, recipient, chain_id), rwas r
     WHERE n.id = w.id AND r.id = n.rwa_id AND ${stateOfRow('n')} IN ('unclaimed', 'failed')`,
    [nfts.map(({ id }) => id), nfts.map(({ recipient }) => recipient), nfts.map(({ chainId }) => chainId)],
  );
  assertAll('unclaimed or failed', nfts.length, rowCount);
}

/** Queues a failed mint again, for the same recipient. @returns false when it has not failed, or its RWA is archived */
export async function requeueFailedNft(tx: Tx, id: string): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'queued', mint_error = NULL, queued_at = clock_timestamp()
     WHERE id = ? AND ${stateOfRow()} = 'failed' AND recipient IS NOT NULL AND mint_chain_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM rwas r WHERE r.id = nfts.rwa_id AND r.archived_at IS NOT NULL)`,
    [id],
  );
  return rowCount === 1;
}

/**
 * Marks NFTs as submitted: a signed transaction with them is stored in the same `tx`.
 * @throws Error when one is not queued
 */
export async function submitNfts(tx: Tx, ids: readonly string[]): Promise<void> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'submitted' WHERE id = ANY (?::uuid[]) AND ${stateOfRow()} = 'queued'`,
    [[...ids]],
  );
  assertAll('queued', ids.length, rowCount);
}

type Minted = {
  readonly nftId: string;
  readonly in: { readonly hash: string; readonly blockNumber: bigint; readonly time: Date };
};

/**
 * Marks NFTs as minted: sets the three fields of the mint together, and counts the NFTs in their RWAs. Each gets the token id under
 * which it is open in a transaction: an older one than its row has where old bytes minted it. A row that was locked when a
 * reorganisation removed its mint still says minted.
 * @returns the seconds since each was accepted
 * @throws Error when one is neither submitted nor minted
 */
export async function mintNfts(tx: Tx, minted: readonly Minted[]): Promise<number[]> {
  if (minted.length === 0) return [];
  const ids = minted.map(({ nftId }) => nftId);
  await unmintNfts(tx, ids);
  // A worker may not change tokens itself.
  await tx.raw('SELECT take_back_tokens(?::uuid[])', [ids]);
  const { rows }: { rows: { rwa_id: string; waited: number }[] } = await tx.raw(
    `UPDATE nfts SET mint_state = 'minted', minted_at = m.at, minted_tx = m.hash, minted_block = m.block,
       mint_error = NULL
     FROM unnest(?::uuid[], ?::timestamptz[], ?::text[], ?::numeric[]) AS m (id, at, hash, block)
     WHERE nfts.id = m.id AND ${stateOfRow()} = 'submitted'
     RETURNING nfts.rwa_id, extract(epoch FROM clock_timestamp() - nfts.queued_at)::float8 AS waited`,
    [
      ids,
      minted.map((mint) => mint.in.time),
      minted.map((mint) => mint.in.hash),
      minted.map((mint) => mint.in.blockNumber.toString()),
    ],
  );
  assertAll('submitted', minted.length, rows.length);
  await count(tx, rows, 1);
  return rows.map(({ waited }) => waited);
}

/** Takes mints back that a reorganisation removed: clears the three fields together. @returns how many NFTs */
export async function unmintNfts(tx: Tx, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  await lockNfts(tx, ids);
  const { rows } = await tx.raw(
    `UPDATE nfts SET mint_state = 'submitted', minted_at = NULL, minted_tx = NULL, minted_block = NULL
     WHERE id = ANY (?::uuid[]) AND ${stateOfRow()} = 'minted' RETURNING rwa_id`,
    [[...ids]],
  );
  await count(tx, rows, -1);
  return rows.length;
}

/**
 * Queues NFTs again that a transaction is proven not to have minted. NFTs that had ended before ({@link keepOut}) get their
 * state of then, unless another transaction may still mint them.
 * @param transactionId null for NFTs that are in none
 * @returns the states of the NFTs now
 * @throws Error when one is not submitted
 */
export async function releaseNfts(
  tx: Tx,
  transactionId: string | null,
  ids: readonly string[],
): Promise<MintState[]> {
  if (ids.length === 0) return [];
  const free = await withoutKept(tx, transactionId, ids);
  const { rows: unclaimed } = await tx.raw('SELECT unclaim_ended_nfts(?::uuid, ?::uuid[])', [
    transactionId,
    [...free],
  ]);
  const { rows }: { rows: { state: MintState }[] } = await tx.raw(
    `UPDATE nfts SET mint_state = coalesce(l.ended_as, 'queued'), mint_error = l.ended_reason
     FROM unnest(?::uuid[]) AS w (id) LEFT JOIN mint_transaction_nfts l ON l.nft_id = w.id AND l.transaction_id = ?::uuid
     WHERE nfts.id = w.id AND ${stateOfRow()} = 'submitted' RETURNING mint_state AS state`,
    [[...free], transactionId],
  );
  assertAll('submitted', free.length, unclaimed.length + rows.length);
  await forgetEnd(tx, transactionId, ids);
  return [
    ...rows.map(({ state }) => state),
    ...unclaimed.map(() => 'unclaimed' as const),
    ...ids.slice(free.length).map(() => 'submitted' as const),
  ];
}

/**
 * Fails NFTs that, as the chain shows, a transaction cannot mint as requested: at once, or when no other transaction may still mint
 * them ({@link keepOut}).
 * @throws Error when one is not submitted
 */
export async function failNfts(
  tx: Tx,
  transactionId: string,
  failed: readonly { readonly nftId: string; readonly reason: string }[],
): Promise<void> {
  if (failed.length === 0) return;
  const ids = failed.map(({ nftId }) => nftId);
  const reasons = failed.map(({ reason }) => reason);
  await tx.raw(
    `UPDATE mint_transaction_nfts l SET ended_as = 'failed', ended_reason = f.reason
     FROM unnest(?::uuid[], ?::text[]) AS f (id, reason) WHERE l.nft_id = f.id AND l.ended_as IS NOT NULL`,
    [ids, reasons],
  );
  const free = await withoutKept(tx, transactionId, ids);
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'failed', mint_error = f.reason
     FROM unnest(?::uuid[], ?::text[]) AS f (id, reason)
     WHERE nfts.id = f.id AND f.id = ANY (?::uuid[]) AND ${stateOfRow()} = 'submitted'`,
    [ids, reasons, [...free]],
  );
  assertAll('submitted', free.length, rowCount);
  await forgetAttempts(tx, free);
  await forgetEnd(tx, transactionId, ids);
}

/**
 * Counts transactions that did not mint these NFTs as failed with their mint, which has ended. A mint that is accepted later does not
 * continue it.
 */
async function forgetAttempts(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.raw(
    `UPDATE mint_transaction_nfts SET state = 'failed' WHERE nft_id = ANY (?::uuid[]) AND state = 'released'`,
    [[...ids]],
  );
}

/**
 * Keeps NFTs out of new transactions that had ended in older transactions, where these may still mint them. Each NFT is open in
 * one older transaction at a time, and left out of its bytes, until the nonces of all are final ({@link releaseNfts}).
 * @param provenId a transaction that is proven not to have minted them
 * @returns the ids of the NFTs that are kept out, without minted NFTs and NFTs in an open transaction
 */
export async function keepOut(
  tx: Tx,
  ids: readonly string[],
  provenId: string | null = null,
): Promise<ReadonlySet<string>> {
  await lockNfts(tx, ids);
  const { rows }: { rows: { nftId: string; id: string }[] } = await tx.raw(
    `SELECT DISTINCT ON (l.nft_id) l.nft_id AS "nftId", t.id
     FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id JOIN nfts n ON n.id = l.nft_id
     WHERE l.nft_id = ANY (?::uuid[]) AND l.ended_as IS NOT NULL AND t.id IS DISTINCT FROM ?::uuid
       AND ${stateOfRow('n')} <> 'minted'
       AND NOT EXISTS (SELECT FROM mint_transaction_nfts o WHERE o.nft_id = l.nft_id AND o.state = 'open')
     ORDER BY l.nft_id, t.created_at DESC`,
    [[...ids], provenId],
  );
  if (rows.length === 0) return new Set();
  const transactionIds = rows.map(({ id }) => id);
  // A lane that is about to end such a transaction does so before, or sees the NFT in it.
  await tx.raw('SELECT FROM mint_transactions WHERE id = ANY (?::uuid[]) ORDER BY id FOR NO KEY UPDATE', [
    transactionIds,
  ]);
  const nftIds = rows.map(({ nftId }) => nftId);
  await tx.raw(
    `WITH kept AS (
       UPDATE mint_transaction_nfts l SET state = 'open', asked_out = true, found_tx = NULL, found_block = NULL,
         found_block_hash = NULL
       FROM unnest(?::uuid[], ?::uuid[]) AS w (nft_id, transaction_id)
       WHERE l.nft_id = w.nft_id AND l.transaction_id = w.transaction_id RETURNING l.transaction_id)
     INSERT INTO mint_unproven_transactions (transaction_id)
     SELECT DISTINCT t.id FROM kept k JOIN mint_transactions t ON t.id = k.transaction_id
     WHERE t.state IN ('finalized', 'reverted', 'lost') ON CONFLICT DO NOTHING`,
    [nftIds, transactionIds],
  );
  // The NFTs of a transaction that has just been proven are submitted.
  if (provenId === null) await submitAgain(tx, nftIds);
  await saveMintNotes(
    tx,
    nftIds.map((nftId) => ({ nftId, reason: 'left_out', detail: keptOut })),
  );
  return new Set(nftIds);
}

/** Submits NFTs that are open in a transaction again, to the recipients that they have in it. */
async function submitAgain(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.raw(
    `UPDATE nfts n SET mint_state = 'submitted', mint_error = NULL, recipient = coalesce(n.recipient, l.recipient),
       mint_chain_id = coalesce(n.mint_chain_id, t.chain_id), queued_at = coalesce(n.queued_at, clock_timestamp())
     FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id
     WHERE n.id = ANY (?::uuid[]) AND l.nft_id = n.id AND l.state = 'open' AND n.mint_state NOT IN ('submitted', 'minted')`,
    [[...ids]],
  );
}

/** Why an NFT is kept out of new transactions, in words. */
export const keptOut =
  'A transaction in which it had ended, or that has another token of it, may still be mined; it waits until that nonce is final.';

/** Moves NFTs on to the next transaction that may mint them. @returns the ids of NFTs without such a transaction */
async function withoutKept(tx: Tx, provenId: string | null, ids: readonly string[]): Promise<string[]> {
  const kept = await keepOut(tx, ids, provenId);
  return ids.filter((id) => !kept.has(id));
}

async function forgetEnd(tx: Tx, transactionId: string | null, ids: readonly string[]): Promise<void> {
  await tx.raw(
    `UPDATE mint_transaction_nfts SET ended_as = NULL, ended_reason = NULL
     WHERE transaction_id = ?::uuid AND nft_id = ANY (?::uuid[]) AND ended_as IS NOT NULL`,
    [transactionId, [...ids]],
  );
}

/** Fails a queued NFT to whose recipient the contract does not mint. @returns false when its row has changed since */
export async function refuseNft(
  tx: Tx,
  { nftId, recipient, reason }: { nftId: string; recipient: string; reason: string },
): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'failed', mint_error = ?
     WHERE id = ? AND ${stateOfRow()} = 'queued' AND recipient = ?`,
    [reason, nftId, recipient],
  );
  if (rowCount === 1) await forgetAttempts(tx, [nftId]);
  return rowCount === 1;
}

/**
 * Takes an accepted mint back of which the caller knows that the chain does not have it.
 * @returns false when the NFT is neither queued nor failed, or is in a transaction whose outcome is open
 */
export async function cancelNft(tx: Tx, id: string): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'unclaimed', recipient = NULL, mint_error = NULL, mint_chain_id = NULL,
       queued_at = NULL
     WHERE id = ? AND ${stateOfRow()} IN ('queued', 'failed')
       AND NOT EXISTS (SELECT FROM mint_transaction_nfts l WHERE l.nft_id = nfts.id AND l.state = 'open')`,
    [id],
  );
  if (rowCount === 1) await forgetAttempts(tx, [id]);
  return rowCount === 1;
}

/** Locks rows in the order in which accepting mints locks them too, so that no two transactions deadlock. */
export async function lockNfts(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.raw('SELECT FROM nfts WHERE id = ANY (?::uuid[]) ORDER BY id FOR NO KEY UPDATE', [[...ids]]);
}

/**
 * Locks NFTs, and waits for no other transaction. Without a transaction the locks end with the statement.
 * @returns the ids of NFTs that another transaction of the database has locked
 */
export async function lockFreeNfts(db: Database | Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows }: { rows: { id: string }[] } = await db.raw(
    'SELECT id FROM nfts WHERE id = ANY (?::uuid[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED',
    [[...ids]],
  );
  const free = new Set(rows.map(({ id }) => id));
  return new Set(ids.filter((id) => !free.has(id)));
}

/**
 * The same as {@link lockFreeNfts} with the RWAs of the NFTs, in which mints are counted.
 * @returns the ids of NFTs of which either row is locked
 */
export async function lockFreeMints(db: Database | Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows }: { rows: { id: string }[] } = await db.raw(
    `SELECT n.id FROM nfts n JOIN rwas r ON r.id = n.rwa_id WHERE n.id = ANY (?::uuid[])
     ORDER BY n.id FOR NO KEY UPDATE OF n, r SKIP LOCKED`,
    [[...ids]],
  );
  const free = new Set(rows.map(({ id }) => id));
  return new Set(ids.filter((id) => !free.has(id)));
}

function assertAll(state: string, wanted: number, found: number): void {
  if (found !== wanted) throw new Error(`Of ${wanted} ${state} NFTs ${found} were still ${state}.`);
}

/** Adjusts the counters of the RWAs, in one order of their rows, so that no two lanes deadlock. */
async function count(tx: Tx, rows: readonly { rwa_id: string }[], step: 1 | -1): Promise<void> {
  const counts = new Map<string, number>();
  for (const { rwa_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + step);
  for (const [id, change] of [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    await tx.raw('UPDATE rwas SET claimed_nfts = claimed_nfts + ? WHERE id = ?', [change, id]);
  }
}
