import type { Database, Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/connection/prepared.ts';
import { stateOfRow } from '../assets/mint-state-sql.ts';

/*
 * Every change of an NFT's state on its way to the chain; nothing else updates `mint_state`, but for a recovery after a
 * restore (`mint-repair-store.ts`).
 *
 *   unclaimed, failed ── queueNfts ──► queued ── submitNfts ──► submitted ── mintNfts ──► minted
 *   (new) ────────────── insertNfts ──┘│  ▲                         │  ▲                     │
 *                                      │  └────── releaseNfts ──────┤  └──── unmintNfts ─────┘
 *                                      └─ refuseNft ──► failed ◄────┴─ failNfts
 *   queued, failed ── cancelNft ──► unclaimed
 *   queued, failed, unclaimed, minted ── resubmitNfts ──► submitted ── releaseNfts ──► what it was
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
 * Marks NFTs as minted: sets the three fields of the mint together, and counts the NFTs in their RWAs.
 * @returns the seconds since each was accepted
 * @throws Error when one is not submitted
 */
export async function mintNfts(tx: Tx, minted: readonly Minted[]): Promise<number[]> {
  if (minted.length === 0) return [];
  await lockInOrder(
    tx,
    minted.map(({ nftId }) => nftId),
  );
  const { rows }: { rows: { rwa_id: string; waited: number }[] } = await tx.raw(
    `UPDATE nfts SET mint_state = 'minted', minted_at = m.at, minted_tx = m.hash, minted_block = m.block,
       mint_error = NULL
     FROM unnest(?::uuid[], ?::timestamptz[], ?::text[], ?::numeric[]) AS m (id, at, hash, block)
     WHERE nfts.id = m.id AND ${stateOfRow()} = 'submitted'
     RETURNING nfts.rwa_id, extract(epoch FROM clock_timestamp() - nfts.queued_at)::float8 AS waited`,
    [
      minted.map(({ nftId }) => nftId),
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
  await lockInOrder(tx, ids);
  const { rows } = await tx.raw(
    `UPDATE nfts SET mint_state = 'submitted', minted_at = NULL, minted_tx = NULL, minted_block = NULL
     WHERE id = ANY (?::uuid[]) AND ${stateOfRow()} = 'minted' RETURNING rwa_id`,
    [[...ids]],
  );
  await count(tx, rows, -1);
  return rows.length;
}

/**
 * Queues NFTs again that a transaction is proven not to have minted. Those that had ended before ({@link resubmitNfts}) become
 * what they were.
 * @throws Error when one is not submitted
 */
export async function releaseNfts(tx: Tx, transactionId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await lockInOrder(tx, ids);
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = coalesce(l.ended_as, 'queued'), mint_error = l.ended_reason,
       recipient = CASE WHEN l.ended_as = 'unclaimed' THEN NULL ELSE nfts.recipient END,
       mint_chain_id = CASE WHEN l.ended_as = 'unclaimed' THEN NULL ELSE nfts.mint_chain_id END,
       queued_at = CASE WHEN l.ended_as = 'unclaimed' THEN NULL ELSE nfts.queued_at END
     FROM unnest(?::uuid[]) AS w (id) LEFT JOIN mint_transaction_nfts l ON l.nft_id = w.id AND l.transaction_id = ?
     WHERE nfts.id = w.id AND ${stateOfRow()} = 'submitted'`,
    [[...ids], transactionId],
  );
  assertAll('submitted', ids.length, rowCount);
}

/**
 * Submits NFTs again that had ended in a transaction which the chain has lost: its bytes may still mint them. They are to be left
 * out of it, and {@link releaseNfts} makes them what they were.
 * @param ids of NFTs without an open transaction; minted ones count as queued
 * @returns the ids of those that are submitted now
 */
export async function resubmitNfts(tx: Tx, transactionId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  await lockInOrder(tx, ids);
  await unmintNfts(tx, ids);
  const { rows }: { rows: { nft_id: string }[] } = await tx.raw(
    `WITH reopened AS (
       UPDATE mint_transaction_nfts l SET state = 'open', asked_out = true, found_tx = NULL, found_block = NULL,
         found_block_hash = NULL, ended_as = CASE n.mint_state WHEN 'submitted' THEN 'queued' ELSE n.mint_state END,
         ended_reason = n.mint_error
       FROM nfts n WHERE l.transaction_id = ? AND l.nft_id = n.id AND n.id = ANY (?::uuid[]) AND n.token_id = l.token_id
         AND ${stateOfRow('n')} <> 'minted'
       RETURNING l.nft_id, l.recipient)
     UPDATE nfts n SET mint_state = 'submitted', mint_error = NULL, recipient = coalesce(n.recipient, r.recipient),
       mint_chain_id = coalesce(n.mint_chain_id, t.chain_id), queued_at = coalesce(n.queued_at, clock_timestamp())
     FROM reopened r, mint_transactions t WHERE n.id = r.nft_id AND t.id = ? RETURNING n.id AS nft_id`,
    [transactionId, [...ids], transactionId],
  );
  return rows.map((row) => row.nft_id);
}

/** Fails NFTs that, as the chain shows, cannot be minted as requested. @throws Error when one is not submitted */
export async function failNfts(
  tx: Tx,
  failed: readonly { readonly nftId: string; readonly reason: string }[],
): Promise<void> {
  if (failed.length === 0) return;
  await lockInOrder(
    tx,
    failed.map(({ nftId }) => nftId),
  );
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'failed', mint_error = f.reason
     FROM unnest(?::uuid[], ?::text[]) AS f (id, reason) WHERE nfts.id = f.id AND ${stateOfRow()} = 'submitted'`,
    [failed.map(({ nftId }) => nftId), failed.map(({ reason }) => reason)],
  );
  assertAll('submitted', failed.length, rowCount);
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
  return rowCount === 1;
}

/** Locks rows in the order in which accepting mints locks them too, so that no two transactions deadlock. */
async function lockInOrder(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.raw('SELECT FROM nfts WHERE id = ANY (?::uuid[]) ORDER BY id FOR NO KEY UPDATE', [[...ids]]);
}

/**
 * Locks NFTs, and waits for no other transaction. Without a transaction the locks end with the statement.
 * @returns the ids of those that another transaction of the database has locked
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
