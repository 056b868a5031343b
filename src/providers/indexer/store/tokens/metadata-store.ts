import type { Database } from '../../../../contract/transaction.ts';
import { bytes, hex } from '../rows/bulk-store.ts';
import { dueAfter } from './rests.ts';

/** The metadata of NFTs are columns of the tokens; the changes that contracts announced wait in `nft_refreshes`. */
const tokenTable = 'nft_tokens';

type TokenKey = { readonly contract: string; readonly tokenId: bigint };

export type DueMetadata = TokenKey & {
  readonly tokenUri: string;
  /** How often they could not be fetched. */
  readonly tries: number;
};

/** The outcome of fetching the metadata of a token. */
export type FetchedMetadata = TokenKey &
  Pick<DueMetadata, 'tries'> & {
    /** JSON text; undefined when the fetch failed. */
    readonly metadata: string | undefined;
    /** Whether to try again after a failure. */
    readonly again: boolean;
  };

type DueRow = {
  readonly contract: Buffer;
  readonly token_id: string;
  readonly token_uri: string;
  readonly metadata_tries: number;
};
/** A `token_id` of -1 stands for all tokens of the contract; those up to `done_to` are marked. */
type RefreshRow = {
  readonly contract: Buffer;
  readonly token_id: string;
  readonly due: string;
  readonly done_to: string | null;
};

const toDue = ({ contract, token_id, token_uri, metadata_tries: tries }: DueRow): DueMetadata => ({
  contract: hex(contract),
  tokenId: BigInt(token_id),
  tokenUri: token_uri,
  tries,
});

const contractsAtOnce = 50;
const tokensAtOnce = 1_000;

/** Returns tokens whose metadata are due, the longest due first. */
export async function listDueMetadata(db: Database, chainId: string, limit: number): Promise<DueMetadata[]> {
  const rows: DueRow[] = await db(tokenTable)
    .where('chain_id', chainId)
    .whereNotNull('token_uri')
    .where('metadata_due', '<=', db.fn.now())
    .orderBy('metadata_due')
    .limit(limit)
    .select('contract', 'token_id', 'token_uri', 'metadata_tries');
  return rows.map(toDue);
}

/** Stores fetched metadata. A failure keeps what was stored and is tried again a few times, at growing intervals. */
export async function saveMetadata(
  db: Database,
  chainId: string,
  fetched: readonly FetchedMetadata[],
): Promise<void> {
  const rows = fetched.map(({ contract, tokenId, metadata = null, again, tries }) => ({
    contract: bytes(contract),
    token_id: String(tokenId),
    metadata,
    tries: metadata === null ? tries + 1 : 0,
    due: (metadata === null && again && dueAfter(tries)) || null,
  }));
  await db.raw(
    `UPDATE nft_tokens t SET metadata = coalesce(r.metadata, t.metadata), metadata_read_at = :now::timestamptz,
       metadata_tries = r.tries, metadata_due = r.due
     FROM json_to_recordset(:rows) AS r (contract bytea, token_id numeric, metadata text, tries smallint, due timestamptz)
     WHERE t.chain_id = :chainId AND t.contract = r.contract AND t.token_id = r.token_id`,
    { rows: JSON.stringify(rows), chainId, now: new Date() },
  );
}

/**
 * Marks a batch of the tokens whose contracts announced a change, so that they are read again. @returns whether there
 * may be more
 */
export async function applyRefreshes(db: Database, chainId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: RefreshRow[] }>(
    `SELECT contract, token_id, due::text, CASE WHEN done_of = due THEN done_to END AS done_to FROM nft_refreshes
     WHERE chain_id = ? AND due <= now() ORDER BY due LIMIT ?`,
    [chainId, tokensAtOnce],
  );
  if (rows.length === 0) return false;
  const isOfAll = ({ token_id }: RefreshRow) => token_id === '-1';
  const done = rows.filter((row) => !isOfAll(row));
  await markTokens(db, chainId, done);
  for (const row of rows.filter(isOfAll).slice(0, contractsAtOnce)) {
    if (await markNext(db, chainId, row)) done.push(row);
  }
  await finishRefreshes(db, chainId, done);
  await forgetRested(db, chainId);
  return true;
}

const toRecords = (rows: readonly RefreshRow[]) =>
  JSON.stringify(rows.map((row) => ({ ...row, contract: `\\x${row.contract.toString('hex')}` })));

// All at once: a sender who pays the gas can announce tens of thousands of tokens in a block, existing or not.
async function markTokens(db: Database, chainId: string, rows: readonly RefreshRow[]): Promise<void> {
  await db.raw(
    `UPDATE nft_tokens t SET uri_stale = true
     FROM json_to_recordset(?) AS r (contract bytea, token_id numeric, due timestamptz)
     WHERE t.chain_id = ? AND t.contract = r.contract AND t.token_id = r.token_id
       AND NOT t.uri_stale AND t.uri_read_at < r.due`,
    [toRecords(rows), chainId],
  );
}

/** Marks the next tokens of a contract whose tokens are all read again. @returns whether they were the last */
async function markNext(
  db: Database,
  chainId: string,
  { contract, due, done_to: after }: RefreshRow,
): Promise<boolean> {
  const of = { chainId, contract, due, after: after ?? -1 };
  const { rows } = await db.raw<{ rows: { last: string | null; count: string }[] }>(
    `SELECT max(token_id) AS last, count(*) FROM (
       SELECT token_id FROM nft_tokens WHERE chain_id = :chainId AND contract = :contract AND token_id > :after
       ORDER BY token_id LIMIT :tokensAtOnce) next`,
    { ...of, tokensAtOnce },
  );
  const { last = null, count = '0' } = rows[0] ?? {};
  if (last === null) return true;
  await db.raw(
    `UPDATE nft_tokens SET uri_stale = true WHERE chain_id = :chainId AND contract = :contract
       AND token_id > :after AND token_id <= :last AND NOT uri_stale AND uri_read_at < :due::timestamptz`,
    { ...of, last },
  );
  await db.raw(
    `UPDATE nft_refreshes SET done_to = :last, done_of = due
     WHERE chain_id = :chainId AND contract = :contract AND token_id = -1 AND due = :due::timestamptz`,
    { ...of, last },
  );
  return Number(count) < tokensAtOnce;
}

/** Ends refreshes. A refresh that was announced again meanwhile has another `due` and stays. */
async function finishRefreshes(db: Database, chainId: string, rows: readonly RefreshRow[]): Promise<void> {
  await db.raw(
    `UPDATE nft_refreshes f SET due = NULL, rests_until = now() + interval '10 minutes'
     FROM json_to_recordset(?) AS r (contract bytea, token_id numeric, due timestamptz)
     WHERE f.chain_id = ? AND f.contract = r.contract AND f.token_id = r.token_id AND f.due = r.due`,
    [toRecords(rows), chainId],
  );
}

async function forgetRested(db: Database, chainId: string): Promise<void> {
  await db.raw(
    `DELETE FROM nft_refreshes WHERE (chain_id, contract, token_id) IN (
       SELECT chain_id, contract, token_id FROM nft_refreshes
       WHERE chain_id = ? AND due IS NULL AND rests_until < now() - interval '1 day'
       ORDER BY rests_until, contract, token_id LIMIT ?)`,
    [chainId, tokensAtOnce],
  );
}
