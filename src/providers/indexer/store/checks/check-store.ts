import type { Database, Tx } from '../../../../contract/transaction.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { tokenFacet } from '../../classify/facets.ts';
import { cleanKinds } from '../../classify/kinds.ts';
import { sortRow } from '../../classify/sort-row.ts';
import { type MoveVerdict, type Verdicts, verified, writeVerdicts } from '../../classify/stored-moves.ts';
import { bytes, hex } from '../rows/bulk-store.ts';
import {
  readSuspects,
  type SuspectApproval,
  type Suspects,
  type SuspectTransfer,
} from '../rows/check-rows.ts';
import { type FacetRow, facetRowColumns, moveFacets, toDescribed } from '../rows/facet-store.ts';

/** Blocks with transfers that are to be checked. */
const table = 'transfer_checks';

export type CheckedBlock = {
  readonly number: bigint;
  readonly hash: string;
  readonly suspects: Suspects;
  /** How often nodes did not answer everything. */
  readonly tries: number;
};

/** The result for a log of a transaction, in the rows of these wallets. */
export type LogVerdict = MoveVerdict & {
  readonly transaction: number;
  readonly logIndex: number;
  readonly wallets: readonly string[];
};

/** Returns the blocks that are due, newest first: nodes forget the states of old blocks. */
export async function listDueChecks(db: Database, chainId: string, limit: number): Promise<CheckedBlock[]> {
  const rows: { block_number: string; block_hash: Buffer; transfers: unknown; tries: number }[] = await db(
    table,
  )
    .where('chain_id', chainId)
    .whereRaw('due <= now()')
    .orderBy('block_number', 'desc')
    .limit(limit)
    .select('block_number', 'block_hash', 'transfers', 'tries');
  return rows.map(({ block_number, block_hash, transfers, tries }) => ({
    number: BigInt(block_number),
    hash: hex(block_hash),
    suspects: readSuspects(transfers),
    tries,
  }));
}

/** Ends the check of a block. */
export async function endCheck(db: Database, chainId: string, { hash }: CheckedBlock): Promise<void> {
  await db.raw(`DELETE FROM ${table} WHERE chain_id = ? AND block_hash = ?::bytea`, [chainId, bytes(hash)]);
}

/** Puts a block off after a failure: for a minute, then for an hour. */
export async function postponeCheck(
  db: Database,
  chainId: string,
  { hash, tries }: CheckedBlock,
): Promise<void> {
  await db.raw(
    `UPDATE ${table} SET tries = ?::int, due = now() + ?::interval WHERE chain_id = ? AND block_hash = ?::bytea`,
    [tries + 1, tries === 0 ? '1 minute' : '1 hour', chainId, bytes(hash)],
  );
}

// A contract logs an approval of its own when an allowance is used, which the owner did not sign.
const approvalsLookedAt = 50;

// Rows that are no spam: somebody paid for each row.
const signedLookedAt = 200;

// Of an approval `c`: whether its owner sent the transaction that logged it.
const isSigned = `EXISTS (SELECT 1 FROM wallet_history h CROSS JOIN LATERAL json_array_elements(h.moves -> 'a') e
  WHERE h.chain_id = :chainId AND h.wallet = :wallet::bytea AND h.block_number = c.block_number
    AND h.tx ->> 1 = :from AND (e ->> 5)::int = c.log_index)`;

/**
 * Returns whether the sender of a transfer ever signed an approval of its token, for any spender. Users of routers,
 * markets and relays approve one account, and another account asks.
 */
export async function knowsToken(
  db: Database,
  chainId: string,
  number: bigint,
  { from, token, logIndex }: SuspectTransfer,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `SELECT 1 FROM (SELECT block_number, log_index FROM approval_changes
       WHERE chain_id = :chainId AND wallet = :wallet::bytea AND contract = :token::bytea AND granted
         AND (block_number, log_index) < (:number, :logIndex) LIMIT ${approvalsLookedAt}) c
     WHERE ${isSigned} LIMIT 1`,
    { chainId, from, logIndex, number: String(number), wallet: bytes(from), token: bytes(token) },
  );
  return rows.length > 0;
}

/** Returns whether the owner of an approval sent a transaction before that moved or approved its token. */
export async function hasSignedFor(
  db: Database,
  chainId: string,
  number: bigint,
  { owner, token, transaction }: SuspectApproval,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `SELECT 1 FROM (SELECT block_number, tx_index FROM history_facets
       WHERE chain_id = :chainId AND wallet = :wallet::bytea AND facet = :facet::bytea
         AND kind = ANY (string_to_array(:kinds, ',')::smallint[])
         AND (block_number, tx_index) < (:number, :transaction) LIMIT ${signedLookedAt}) f
     JOIN wallet_history h ON h.chain_id = :chainId AND h.wallet = :wallet::bytea
       AND h.block_number = f.block_number AND h.tx_index = f.tx_index
     WHERE h.tx ->> 1 = :owner LIMIT 1`,
    {
      chainId,
      owner,
      transaction,
      number: String(number),
      wallet: bytes(owner),
      facet: tokenFacet(token),
      kinds: cleanKinds.join(),
    },
  );
  return rows.length > 0;
}

/**
 * Returns whether the sender of a transfer had approved the account that asked for it, by an approval that the sender
 * signed.
 */
export async function isApproved(
  db: Database,
  chainId: string,
  number: bigint,
  { from, token, tokenId, logIndex, spenders }: SuspectTransfer,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { party: string; granted: boolean; signed: boolean }[] }>(
    `SELECT c.party, c.granted, ${isSigned} AS signed
     FROM unnest(string_to_array(:spenders, ',')::bytea[]) s (spender)
     CROSS JOIN (VALUES (1, 0, true), (2, :tokenId::numeric, false), (3, 0, true)) k (kind, token_id, is_party)
     CROSS JOIN LATERAL (SELECT k.kind || party::text AS party, granted, block_number, log_index FROM approval_changes
       WHERE chain_id = :chainId AND wallet = :wallet::bytea AND contract = :token::bytea AND kind = k.kind
         AND token_id = k.token_id AND party = CASE WHEN k.is_party THEN s.spender ELSE '' END
         AND spender = s.spender AND (block_number, log_index) < (:number, :logIndex)
       ORDER BY block_number DESC, log_index DESC LIMIT ${approvalsLookedAt}) c
     ORDER BY c.party, c.block_number DESC, c.log_index DESC`,
    {
      chainId,
      from,
      logIndex,
      number: String(number),
      wallet: bytes(from),
      token: bytes(token),
      spenders: spenders.map(bytes).join(),
      tokenId: tokenId === null ? null : String(tokenId),
    },
  );
  const ended = new Set<string>();
  for (const { party, granted, signed } of rows) {
    if (!granted) ended.add(party);
    else if (signed && !ended.has(party)) return true;
  }
  return false;
}

/**
 * Stores the results for a block's transfers and approvals in the rows of their wallets. Does nothing when the chain has another block
 * there by now.
 */
export async function saveVerdicts(
  db: Database,
  chainId: string,
  block: CheckedBlock,
  verdicts: readonly LogVerdict[],
): Promise<void> {
  const byLog = new Map(
    verdicts.map(({ transaction: _, logIndex, wallets: __, ...verdict }) => [logIndex, verdict]),
  );
  const keys = new Map(
    verdicts.flatMap(({ transaction, wallets }) =>
      wallets.map((wallet) => [`${wallet}${transaction}`, [bytes(wallet), transaction]] as const),
    ),
  );
  await inTransaction(db, async (tx) => {
    // Every writer that adds or removes blocks changes this row first, and waits.
    await tx.raw('UPDATE index_state SET updated_at = updated_at WHERE chain_id = ?', [chainId]);
    await changeRows(tx, { chainId, block, byLog, keys: [...keys.values()] });
  });
}

type Change = {
  readonly chainId: string;
  readonly block: CheckedBlock;
  readonly byLog: Verdicts;
  readonly keys: readonly (readonly [wallet: string, transaction: number])[];
};

async function changeRows(tx: Tx, { chainId, block, byLog, keys }: Change): Promise<void> {
  const place = { chainId, number: String(block.number), hash: bytes(block.hash) };
  const { rows } = await tx.raw<{ rows: FacetRow[] }>(
    `SELECT ${facetRowColumns} FROM wallet_history WHERE chain_id = :chainId AND block_number = :number
       AND block_hash = :hash::bytea AND wallet = ANY (string_to_array(:wallets, ',')::bytea[])
       AND tx_index = ANY (string_to_array(:indexes, ',')::int[])`,
    {
      ...place,
      wallets: keys.map(([wallet]) => wallet).join(),
      indexes: [...new Set(keys.map(([, transaction]) => transaction))].join(),
    },
  );
  const changed = rows.map((row) => withVerdicts(row, byLog));
  await moveFacets(tx, chainId, changed);
  await tx.raw(
    `UPDATE wallet_history h SET verdicts = r.verdicts, kind = CASE WHEN h.kind IS NULL THEN NULL ELSE r.kind END
     FROM json_to_recordset(:rows) AS r (wallet bytea, tx_index integer, verdicts json, kind smallint)
     WHERE h.chain_id = :chainId AND h.block_number = :number AND h.wallet = r.wallet AND h.tx_index = r.tx_index`,
    {
      ...place,
      rows: JSON.stringify(
        changed.map(({ wallet, tx_index, verdicts, newKind }) => ({
          wallet: bytes(hex(wallet)),
          tx_index,
          verdicts,
          kind: newKind,
        })),
      ),
    },
  );
}

function withVerdicts(row: FacetRow, byLog: Verdicts) {
  const before = toDescribed(row);
  const moves = verified(before.moves, byLog);
  const verdicts: unknown = JSON.parse(writeVerdicts(moves) ?? 'null');
  return { ...row, verdicts, newKind: sortRow({ ...before, moves }).kind };
}
