import type { MerkleTree } from '../../chain/merkle-tree.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import type { Holder } from './holder-store.ts';
import type { LedgerBlock, LedgerGroup } from './ledger-group.ts';

/*
 * Tables `ownership_snapshots` and `snapshot_holders`: the owners of the NFTs of an RWA at a final block. A snapshot
 * that was taken never changes.
 */

export type Snapshot = {
  readonly id: string;
  readonly rwaId: string;
  /** Decimal. */
  readonly block: string;
  readonly createdAt: Date;
  /** Null until its block is final. */
  readonly taken: TakenSnapshot | null;
};

type TakenSnapshot = {
  readonly blockHash: string;
  readonly blockTime: Date;
  readonly tokenCount: number;
  readonly holderCount: number;
  /** Null without holders. */
  readonly merkleRoot: string | null;
  readonly at: Date;
};

type Row = {
  id: string;
  rwa_id: string;
  block_number: string;
  created_at: Date;
  block_hash: string;
  block_time: Date;
  token_count: number;
  holder_count: number;
  merkle_root: string | null;
  taken_at: Date | null;
};

const toSnapshot = (row: Row): Snapshot => ({
  id: row.id,
  rwaId: row.rwa_id,
  block: row.block_number,
  createdAt: row.created_at,
  taken: row.taken_at && {
    blockHash: row.block_hash,
    blockTime: row.block_time,
    tokenCount: row.token_count,
    holderCount: row.holder_count,
    merkleRoot: row.merkle_root,
    at: row.taken_at,
  },
});

/** An RWA of a company at a block: what a snapshot is of. */
export type SnapshotOf = { readonly companyId: string; readonly rwaId: string; readonly block: bigint };

/** Makes other requests of the company for a new snapshot wait until the end of the transaction. */
export async function lockSnapshots(tx: Tx, companyId: string): Promise<void> {
  await tx.raw("SELECT pg_advisory_xact_lock(hashtextextended('snapshots ' || ?, 0))", [companyId]);
}

/** Finds the snapshot of a company's RWA at a block. Of several, which 0.2.0 made, it is the oldest. */
export async function findSnapshotAt(
  tx: Tx,
  { companyId, rwaId, block }: SnapshotOf,
): Promise<Snapshot | undefined> {
  const row: Row | undefined = await tx('ownership_snapshots')
    .where({ company_id: companyId, rwa_id: rwaId, block_number: block.toString() })
    .orderBy('created_at')
    .first();
  return row && toSnapshot(row);
}

/** What the snapshots of a company take. */
export type SnapshotUse = {
  readonly pending: number;
  readonly holders: number;
  /** The ids of the oldest, which a company may delete; null without one. */
  readonly oldest: string | null;
  readonly oldestPending: string | null;
};

/** Counts the pending snapshots of a company, and the holders that all of its snapshots store or are going to store. */
export async function countSnapshots(tx: Tx, companyId: string): Promise<SnapshotUse> {
  const { rows }: { rows: SnapshotUse[] } = await tx.raw(
    `SELECT (count(*) FILTER (WHERE taken_at IS NULL))::int AS pending,
       coalesce(sum(coalesce(holder_count, expected_holders)), 0)::float8 AS holders,
       (array_agg(id ORDER BY created_at))[1] AS oldest,
       (array_agg(id ORDER BY created_at) FILTER (WHERE taken_at IS NULL))[1] AS "oldestPending"
     FROM ownership_snapshots WHERE company_id = ?`,
    [companyId],
  );
  const [use] = rows;
  if (use === undefined) throw new Error('a count without a row');
  return use;
}

/**
 * Stores that a snapshot of a company's RWA is to be taken at a block.
 * @param expectedHolders who owns tokens at the block, as it was read
 */
export async function insertSnapshot(
  tx: Tx,
  { companyId, rwaId, block }: SnapshotOf,
  expectedHolders: number,
): Promise<Snapshot> {
  const [row]: Row[] = await tx('ownership_snapshots')
    .insert({
      company_id: companyId,
      rwa_id: rwaId,
      block_number: block.toString(),
      expected_holders: expectedHolders,
    })
    .returning('*');
  if (row === undefined) throw new Error('an insert without a row');
  return toSnapshot(row);
}

/** Deletes a snapshot of a company. {@link purgeSnapshotHolders} deletes its holders. @returns whether there was one */
export async function deleteSnapshot(tx: Tx, companyId: string, id: string): Promise<boolean> {
  return (await tx('ownership_snapshots').where({ company_id: companyId, id }).delete()) > 0;
}

/**
 * Deletes holders of snapshots that are gone, so many at most: of a million it takes longer than a request may. It reads the ids of all
 * snapshots with holders.
 * @returns how many
 */
export async function purgeSnapshotHolders(db: Database, limit: number): Promise<number> {
  const { rowCount }: { rowCount: number } = await db.raw(
    `WITH RECURSIVE ids AS (
       (SELECT snapshot_id AS id FROM snapshot_holders ORDER BY snapshot_id LIMIT 1)
       UNION ALL
       SELECT (SELECT snapshot_id FROM snapshot_holders WHERE snapshot_id > ids.id ORDER BY snapshot_id LIMIT 1)
       FROM ids WHERE ids.id IS NOT NULL
     )
     DELETE FROM snapshot_holders h USING (
       SELECT o.snapshot_id, o.wallet FROM ids CROSS JOIN LATERAL (
         SELECT snapshot_id, wallet FROM snapshot_holders WHERE snapshot_id = ids.id LIMIT :limit) o
       WHERE NOT EXISTS (SELECT FROM ownership_snapshots s WHERE s.id = ids.id) LIMIT :limit) gone
     WHERE h.snapshot_id = gone.snapshot_id AND h.wallet = gone.wallet`,
    { limit },
  );
  return rowCount;
}

/** Finds a snapshot of a company. */
export async function findSnapshot(
  db: Database,
  companyId: string,
  id: string,
): Promise<Snapshot | undefined> {
  const row: Row | undefined = await db('ownership_snapshots').where({ company_id: companyId, id }).first();
  return row && toSnapshot(row);
}

export type SnapshotHolder = {
  readonly wallet: string;
  readonly tokenIds: readonly string[];
  /** From the wallet's leaf to the root. */
  readonly proof: readonly string[];
};

const holdersOf = `FROM ownership_snapshots s JOIN snapshot_holders h ON h.snapshot_id = s.id
  WHERE s.company_id = :companyId AND s.id = :id`;

/** Lists holders of a company's snapshot by wallet, after this wallet, without their proofs. */
export async function listSnapshotHolders(
  db: Database,
  companyId: string,
  id: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<Omit<SnapshotHolder, 'proof'>[]> {
  const { rows } = await db.raw(
    `SELECT h.wallet, h.token_ids::text[] AS "tokenIds" ${holdersOf} AND h.wallet COLLATE "C" > :after
     ORDER BY h.wallet COLLATE "C" LIMIT :limit`,
    { companyId, id, after, limit },
  );
  return rows;
}

/** Finds a holder of a company's snapshot. */
export async function findSnapshotHolder(
  db: Database,
  companyId: string,
  id: string,
  wallet: string,
): Promise<SnapshotHolder | undefined> {
  const { rows } = await db.raw(
    `SELECT h.wallet, h.token_ids::text[] AS "tokenIds", h.proof ${holdersOf} AND h.wallet = :wallet`,
    { companyId, id, wallet },
  );
  return rows[0];
}

/** A snapshot whose block is final, with its RWA. */
export type DueSnapshot = {
  readonly id: string;
  readonly block: bigint;
  readonly companyId: string;
  readonly number: bigint;
  readonly chainId: string;
  readonly contractAddress: string;
  /** Of its ledger, as {@link saveSnapshot} must find them. */
  readonly rollBacks: string;
};

type Question = Pick<LedgerGroup, 'chainId' | 'contracts'> & {
  readonly final: bigint;
  /** Ids of snapshots that come last. */
  readonly failed: ReadonlySet<string>;
};

/**
 * Lists the oldest snapshot of each company, of these contracts, whose block is final and was read. Snapshots with few
 * holders come first.
 */
export async function listDueSnapshots(
  db: Database,
  { chainId, contracts, final, failed }: Question,
): Promise<DueSnapshot[]> {
  type Due = Record<'id' | 'block' | 'company_id' | 'number' | 'contract_address' | 'roll_backs', string>;
  const { rows }: { rows: Due[] } = await db.raw(
    `SELECT * FROM (SELECT DISTINCT ON (s.company_id) s.id, s.block_number AS block, s.company_id, r.number, r.contract_address,
       l.roll_backs, s.expected_holders FROM ownership_snapshots s JOIN rwas r ON r.id = s.rwa_id
     JOIN nft_ledgers l ON l.chain_id = r.chain_id AND l.contract = r.contract_address AND l.number >= s.block_number
     WHERE s.taken_at IS NULL AND r.chain_id = :chainId AND s.block_number <= :final::numeric
       AND l.contract = ANY (:contracts::text[])
     ORDER BY s.company_id, s.id = ANY (:failed::uuid[]), s.created_at) due ORDER BY expected_holders NULLS FIRST`,
    { chainId, contracts: [...contracts], final: final.toString(), failed: [...failed] },
  );
  return rows.map((row) => ({
    id: row.id,
    block: BigInt(row.block),
    companyId: row.company_id,
    number: BigInt(row.number),
    chainId,
    contractAddress: row.contract_address,
    rollBacks: row.roll_backs,
  }));
}

/** What a snapshot shows. */
type Taken = {
  readonly block: LedgerBlock;
  readonly holders: readonly Holder[];
  /** Null without holders. */
  readonly tree: MerkleTree | null;
  readonly signal: AbortSignal;
};

/** Whether a snapshot is still there and pending, and its ledger was not rolled back after it was listed. */
async function isStillDue(
  tx: Tx,
  { id, chainId, contractAddress, rollBacks }: DueSnapshot,
  lock: '' | 'FOR UPDATE' = '',
): Promise<boolean> {
  const { rows } = await tx.raw(
    `SELECT FROM ownership_snapshots s WHERE id = :id AND taken_at IS NULL AND EXISTS (
       SELECT FROM nft_ledgers WHERE chain_id = :chainId AND contract = :contractAddress AND roll_backs = :rollBacks) ${lock}`,
    { id, chainId, contractAddress, rollBacks },
  );
  return rows.length > 0;
}

/**
 * Stores what a pending snapshot shows; nothing when it is not due any more. A million holders take a minute, so the
 * snapshot is locked after them: a request that deletes it does not wait.
 * @throws when the snapshot ceases to be due meanwhile: the transaction must not commit its holders
 */
export async function saveSnapshot(
  tx: Tx,
  due: DueSnapshot,
  { block, holders, tree, signal }: Taken,
): Promise<void> {
  if (!(await isStillDue(tx, due))) return;
  const { id } = due;
  for (let from = 0; from < holders.length; from += holdersAtOnce) {
    signal.throwIfAborted();
    const batch = holders.slice(from, from + holdersAtOnce);
    await insertHolders(
      tx,
      id,
      batch.map((holder, index) => ({ ...holder, proof: tree?.proofOf(from + index) ?? [] })),
    );
  }
  if (!(await isStillDue(tx, due, 'FOR UPDATE')))
    throw new Error(
      `Snapshot ${id} was deleted or taken, or its ledger rolled back, while its holders were stored.`,
    );
  await tx('ownership_snapshots')
    .where({ id })
    .update({
      block_hash: block.hash,
      block_time: block.time,
      token_count: holders.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
      holder_count: holders.length,
      merkle_root: tree?.root ?? null,
      taken_at: tx.raw('clock_timestamp()'),
    });
}

// A holder with its proof has some 2 kB, and many tokens more.
const holdersAtOnce = 2_000;

async function insertHolders(tx: Tx, id: string, holders: readonly SnapshotHolder[]): Promise<void> {
  await tx.raw(
    `INSERT INTO snapshot_holders (snapshot_id, wallet, token_ids, proof)
     SELECT :id, h.wallet, h.token_ids, h.proof
     FROM jsonb_to_recordset(:holders::jsonb) AS h (wallet text, token_ids numeric[], proof text[])`,
    {
      id,
      holders: JSON.stringify(
        holders.map(({ wallet, tokenIds, proof }) => ({ wallet, token_ids: tokenIds, proof })),
      ),
    },
  );
}
