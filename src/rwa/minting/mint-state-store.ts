import type { Tx } from '../../contract/transaction.ts';
import { prepared } from '../../db/prepared.ts';
import { together } from '../../db/together.ts';
import type { SealedSecret } from '../assets/claim-secret.ts';
import { isLockedSql } from '../assets/secret-attempt-store.ts';
import { tokenIdSql } from '../assets/token-id.ts';

/*
 * Every change of an NFT's state on its way to the chain; nothing else writes `mint_state`.
 *
 *              (new) ── insertQueuedNft ─┐
 *   unclaimed, failed ── queueNft ──► queued ── submitNfts ──► submitted ── mintNfts ──► minted
 *                                     │  ▲                         │  ▲                     │
 *                                     │  └────── releaseNfts ──────┤  └──── unmintNfts ─────┘
 *                                     └─ refuseNft ──► failed ◄────┴─ failNfts
 *
 * A row that is elsewhere than it is taken to be is noticed: then nothing of the transaction stays.
 */

type Wanted = {
  readonly id: string;
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly recipient: string;
};

/** Accepts a mint. @returns false when the NFT is not to be had: under way, minted, or its secret is locked */
export function queueNft(tx: Tx, wanted: Wanted): Promise<boolean> {
  return together(tx, 'queue_nft', wanted, (all) => queueAll(tx, all));
}

async function queueAll(tx: Tx, all: readonly Wanted[]): Promise<boolean[]> {
  const { rows } = await prepared<{ id: string }>(
    tx,
    'queue_nft',
    `UPDATE nfts n SET mint_state = 'queued', recipient = w.recipient, mint_error = NULL,
       mint_chain_id = w.chain_id, queued_at = clock_timestamp()
     FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS w (id, recipient, chain_id)
     WHERE n.id = w.id AND n.mint_state IN ('unclaimed', 'failed') AND NOT ${isLockedSql} RETURNING n.id`,
    [all.map(({ id }) => id), all.map(({ recipient }) => recipient), all.map(({ chainId }) => chainId)],
  );
  const queued = new Set(rows.map(({ id }) => id));
  return all.map(({ id }) => queued.has(id));
}

export type QueuedNft = {
  readonly id: string;
  readonly companyId: string;
  readonly rwaId: string;
  readonly sealed: SealedSecret;
  /** Decimal. */
  readonly chainId: string;
  /** EIP-55. */
  readonly recipient: string;
  readonly data: object | undefined;
};

/**
 * Makes an NFT with the next serial of its RWA whose mint is accepted already. The RWA's row stays locked until
 * the transaction ends, so this comes late in it: after all that only reads, and before what must not be written
 * for an RWA that is gone. @returns false when the company has no such RWA
 */
export function insertQueuedNft(tx: Tx, nft: QueuedNft): Promise<boolean> {
  return together(tx, 'insert_queued_nft', nft, (all) => insertAll(tx, all));
}

// Rows of RWAs are taken in one order, so that no two transactions deadlock.
const insertQueued = `
  WITH w AS (
    SELECT *, row_number() OVER (PARTITION BY rwa_id ORDER BY place) AS step
    FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::bytea[], $5::text[], $6::text[], $7::bigint[], $8::text[])
      WITH ORDINALITY AS w (id, company_id, rwa_id, cipher, key_id, recipient, chain_id, data, place)),
  wanted AS (SELECT company_id, rwa_id, count(*) AS count FROM w GROUP BY company_id, rwa_id),
  locked AS (
    SELECT r.id, wanted.count FROM rwas r JOIN wanted ON r.company_id = wanted.company_id AND r.id = wanted.rwa_id
    ORDER BY r.id FOR NO KEY UPDATE OF r),
  taken AS (
    UPDATE rwas r SET last_serial = r.last_serial + l.count, total_nfts = r.total_nfts + l.count
    FROM locked l WHERE r.id = l.id RETURNING r.id, r.company_id, r.number, r.last_serial - l.count AS last)
  INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id,
    mint_state, recipient, mint_chain_id, data, queued_at)
  SELECT w.id, t.company_id, t.id, t.number, t.last + w.step, ${tokenIdSql('t.number', '(t.last + w.step)')}, w.cipher,
    w.key_id, 'queued', w.recipient, w.chain_id, w.data::jsonb, clock_timestamp()
  FROM w JOIN taken t ON t.id = w.rwa_id AND t.company_id = w.company_id RETURNING id`;

async function insertAll(tx: Tx, all: readonly QueuedNft[]): Promise<boolean[]> {
  const { rows } = await prepared<{ id: string }>(tx, 'insert_queued_nft', insertQueued, [
    all.map(({ id }) => id),
    all.map(({ companyId }) => companyId),
    all.map(({ rwaId }) => rwaId),
    all.map(({ sealed }) => sealed.cipher),
    all.map(({ sealed }) => sealed.keyId),
    all.map(({ recipient }) => recipient),
    all.map(({ chainId }) => chainId),
    all.map(({ data }) => (data ? JSON.stringify(data) : null)),
  ]);
  const made = new Set(rows.map(({ id }) => id));
  return all.map(({ id }) => made.has(id));
}

/** An operator asks again for a mint that failed, for its recipient. @returns false when it has not failed */
export async function requeueFailedNft(tx: Tx, id: string): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'queued', mint_error = NULL, queued_at = clock_timestamp()
     WHERE id = ? AND mint_state = 'failed' AND recipient IS NOT NULL AND mint_chain_id IS NOT NULL`,
    [id],
  );
  return rowCount === 1;
}

/** The NFTs are in a signed transaction that is stored with them. @throws Error when one is elsewhere */
export async function submitNfts(tx: Tx, ids: readonly string[]): Promise<void> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'submitted' WHERE id = ANY (?::uuid[]) AND mint_state = 'queued'`,
    [[...ids]],
  );
  assertAll('queued', ids.length, rowCount);
}

type Minted = {
  readonly nftId: string;
  readonly in: { readonly hash: string; readonly blockNumber: bigint; readonly time: Date };
};

/**
 * The NFTs are on the chain: the three fields appear together, and their RWAs count them.
 * @returns for each, the seconds since it was accepted
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
     WHERE nfts.id = m.id AND nfts.mint_state = 'submitted'
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

/** A reorganisation took the mints back: the three fields go together. @returns how many NFTs that were */
export async function unmintNfts(tx: Tx, ids: readonly string[]): Promise<number> {
  await lockInOrder(tx, ids);
  const { rows } = await tx.raw(
    `UPDATE nfts SET mint_state = 'submitted', minted_at = NULL, minted_tx = NULL, minted_block = NULL
     WHERE id = ANY (?::uuid[]) AND mint_state = 'minted' RETURNING rwa_id`,
    [[...ids]],
  );
  await count(tx, rows, -1);
  return rows.length;
}

/** It is proven that the NFTs are not minted by what was sent: they wait for another transaction. */
export async function releaseNfts(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await lockInOrder(tx, ids);
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'queued' WHERE id = ANY (?::uuid[]) AND mint_state = 'submitted'`,
    [[...ids]],
  );
  assertAll('submitted', ids.length, rowCount);
}

/** The chain shows that the NFTs cannot be minted as they were asked for. */
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
     FROM unnest(?::uuid[], ?::text[]) AS f (id, reason) WHERE nfts.id = f.id AND mint_state = 'submitted'`,
    [failed.map(({ nftId }) => nftId), failed.map(({ reason }) => reason)],
  );
  assertAll('submitted', failed.length, rowCount);
}

/** The contract does not mint to the recipient. @returns false when the NFT does not wait for that any more */
export async function refuseNft(
  tx: Tx,
  { nftId, recipient, reason }: { nftId: string; recipient: string; reason: string },
): Promise<boolean> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nfts SET mint_state = 'failed', mint_error = ?
     WHERE id = ? AND mint_state = 'queued' AND recipient = ?`,
    [reason, nftId, recipient],
  );
  return rowCount === 1;
}

/** In the one order in which rows are also locked when mints are asked for, so that no two transactions deadlock. */
async function lockInOrder(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.raw('SELECT FROM nfts WHERE id = ANY (?::uuid[]) ORDER BY id FOR NO KEY UPDATE', [[...ids]]);
}

function assertAll(state: string, wanted: number, found: number): void {
  if (found !== wanted) throw new Error(`Of ${wanted} ${state} NFTs ${found} were still ${state}.`);
}

/** The RWAs' counters follow their NFTs; their rows are taken in one order, so that no two lanes deadlock. */
async function count(tx: Tx, rows: readonly { rwa_id: string }[], step: 1 | -1): Promise<void> {
  const counts = new Map<string, number>();
  for (const { rwa_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + step);
  for (const [id, change] of [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    await tx.raw('UPDATE rwas SET claimed_nfts = claimed_nfts + ? WHERE id = ?', [change, id]);
  }
}
