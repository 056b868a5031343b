import type { Database } from '../../../../contract/transaction.ts';
import { byStatement } from '../../../../db/connection/transaction.ts';
import { readVerdicts, verified } from '../../classify/stored-moves.ts';
import type { IndexedBlock } from '../../decode/domain.ts';
import { atOnce } from '../../decode/turns.ts';
import { type BlockRows, blockRows } from '../rows/block-rows.ts';
import { type Column, type Row, readLines, rowsTable } from '../rows/bulk-store.ts';
import { type HistoryTable, historyTables, writeSteps } from '../rows/history-rows.ts';
import { approvalKey } from '../rows/ledger-rows.ts';
import { newestChange } from '../rows/ledger-store.ts';

type AnyRow = Readonly<Record<string, Row[Column]>>;
type AllRows = Readonly<Record<keyof BlockRows | HistoryTable, readonly AnyRow[]>>;

/** One row in which a table and the node differ. */
export type Difference = {
  readonly table: keyof AllRows | 'index_blocks';
  /** The columns that name the row within the block, such as `wallet=0x… tx_index=5`. */
  readonly row: string;
  readonly kind: 'missing' | 'other' | 'needless';
};

type Check = {
  readonly table:
    | ('wallet_history' | 'history_facets' | 'nft_changes' | 'index_skipped_logs')
    | ('block_credits' | 'approval_changes');
  readonly key: readonly string[];
  readonly content: readonly string[];
  /** Whether an index that began with an earlier release has the rows of later blocks only. */
  readonly ofLedger?: true;
};

const checks: readonly Check[] = [
  {
    table: 'wallet_history',
    key: ['wallet', 'tx_index'],
    content: ['tx_hash', 'block_hash', 'block_time', 'tx', 'moves', 'kind'],
  },
  {
    table: 'block_credits',
    key: ['wallet', 'kind', 'place'],
    content: ['block_hash', 'block_time', 'amount', 'validator_index', 'withdrawal_index'],
    ofLedger: true,
  },
  {
    table: 'approval_changes',
    key: ['wallet', 'contract', 'kind', 'token_id', 'party', 'log_index'],
    content: ['spender', 'amount', 'granted'],
    ofLedger: true,
  },
  {
    table: 'nft_changes',
    key: ['wallet', 'contract', 'token_id', 'log_index', 'part'],
    content: ['standard', 'delta', 'gained'],
  },
  {
    table: 'index_skipped_logs',
    key: ['log_index'],
    content: ['contract', 'topic', 'reason'],
  },
];

/** Whether to read by the wallets of the block: the table is large, and its primary key begins with the wallet. */
const isByWallet = ({ key }: Check) => key[0] === 'wallet';

/** Only when whole tables are searched: the facets of a wallet are not in the order of blocks. */
const facetCheck: Check = {
  table: 'history_facets',
  key: ['wallet', 'facet', 'kind', 'tx_index'],
  content: [],
};

/** Tables that may have more than the rows of a block, and when a row `t` counts as the expected row `e`. */
type Subset = {
  readonly table: 'history_facets' | 'token_contracts' | 'nft_tokens';
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly on: string;
};

const subsets: readonly Subset[] = [
  {
    table: 'history_facets',
    key: ['wallet', 'facet', 'tx_index'],
    columns: ['wallet', 'facet', 'kind', 'block_number', 'tx_index'],
    on: `t.wallet = e.wallet AND t.facet = e.facet AND t.kind = e.kind AND t.block_number = e.block_number
      AND t.tx_index = e.tx_index`,
  },
  {
    table: 'token_contracts',
    key: ['contract'],
    columns: ['contract', 'standard'],
    on: 't.contract = e.contract AND t.standard >= e.standard',
  },
  {
    table: 'nft_tokens',
    key: ['contract', 'token_id'],
    columns: ['contract', 'token_id', 'minted_block'],
    on: `t.contract = e.contract AND t.token_id = e.token_id
      AND (e.minted_block IS NULL OR t.minted_block <= e.minted_block)`,
  },
];

type StoredRow = { readonly key: string; readonly content: string };

/**
 * Compares the rows of one block with the data of the node, for all wallets that the block touches. It compares their
 * history, changes of NFTs and skipped logs, what they own now of these NFTs, and whether contracts and tokens are
 * known.
 * @returns the differences; empty when there are none
 */
export async function compareBlock(
  db: Database,
  chainId: string,
  block: IndexedBlock,
): Promise<Difference[]> {
  const { number } = block.header;
  const rows = await expectedOf(db, chainId, block);
  // A block may have more differences than a call has room for arguments.
  const found: (readonly Difference[])[] = [];
  const isInLedger = await hasLedger(db, chainId, number);
  for (const check of checks) {
    if (check.ofLedger === true && !isInLedger) continue;
    const wallets = isByWallet(check) ? walletsOf(rows[check.table]) : undefined;
    const { sql, bindings } = storedRows(check, chainId, number, wallets);
    const stored = (await db.raw<{ rows: StoredRow[] }>(sql, bindings)).rows;
    found.push(differences(check, expectedRows(check, rows[check.table]), stored));
  }
  for (const subset of subsets) found.push(await missingRows(db, chainId, subset, rows));
  found.push(await otherHoldings(db, chainId, rows));
  if (isInLedger) found.push(await otherApprovals(db, chainId, rows));
  return found.flat();
}

/**
 * Searches whole tables for rows of these blocks that belong to wallets which the blocks do not touch. Reads every
 * row of the network once.
 */
export async function findStrayRows(
  db: Database,
  chainId: string,
  blocks: readonly IndexedBlock[],
): Promise<(Difference & { readonly block: bigint })[]> {
  const found: (readonly (Difference & { readonly block: bigint })[])[] = [];
  const all = await Promise.all(
    blocks.map(async (block) => ({ ...block.header, rows: await expectedOf(db, chainId, block) })),
  );
  for (const check of [...checks.filter(isByWallet), facetCheck]) {
    const expected = new Set(
      all.flatMap(({ number, rows }) =>
        [...expectedRows(check, rows[check.table]).keys()].map((key) => `${number} ${key}`),
      ),
    );
    const { rows } = await byStatement(db, (from) =>
      from.raw<{ rows: { block_number: string; key: string }[] }>(
        `SELECT block_number, ${textOf(check.key)} AS key FROM ${check.table}
         WHERE chain_id = ? AND block_number = ANY (string_to_array(?, ',')::bigint[])`,
        [chainId, blocks.map(({ header }) => header.number).join(',')],
      ),
    );
    const stray = rows.filter(({ block_number, key }) => !expected.has(`${block_number} ${key}`));
    found.push(
      stray.map(({ block_number, key }) => ({
        ...toDifference(check, key, 'needless'),
        block: BigInt(block_number),
      })),
    );
  }
  return found.flat();
}

/** Returns the rows of the block, with the stored results for its transfers, which no node can repeat. */
async function expectedOf(db: Database, chainId: string, block: IndexedBlock): Promise<AllRows> {
  const { number } = block.header;
  const rows = allRows(chainId, block);
  const { rows: stored } = await db.raw<{ rows: { verdicts: unknown }[] }>(
    `SELECT verdicts FROM wallet_history WHERE chain_id = ? AND block_number = ? AND verdicts IS NOT NULL
     AND wallet = ANY (string_to_array(?, ',')::bytea[])`,
    [chainId, String(number), walletsOf(rows.wallet_history).join(',')],
  );
  if (stored.length === 0) return rows;
  const all = new Map(stored.flatMap(({ verdicts }) => readVerdicts(verdicts)));
  return allRows(chainId, {
    ...block,
    transactions: block.transactions.map((transaction) => verified(transaction, all)),
  });
}

function allRows(chainId: string, block: IndexedBlock): AllRows {
  const written = atOnce(writeSteps(chainId, block));
  const { wallet_history, history_facets } = historyTables;
  return {
    ...blockRows([written]),
    wallet_history: readLines(wallet_history, written.lines.wallet_history),
    history_facets: readLines(history_facets, written.lines.history_facets),
  };
}

function walletsOf(rows: readonly AnyRow[]): string[] {
  return [...new Set(rows.map((row) => String(row['wallet'])))];
}

// Times are compared in the form in which they are written, all other values as the server prints them.
const column = (name: string) =>
  name === 'block_time'
    ? `to_char(block_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    : `coalesce(${name}::text, '')`;
const textOf = (names: readonly string[]) => `concat_ws(' ', ${names.map(column).join(', ')})`;

function storedRows(
  { table, key, content }: Check,
  chainId: string,
  number: bigint,
  wallets: string[] | undefined,
) {
  const own = wallets === undefined ? '' : `AND wallet = ANY (string_to_array(?, ',')::bytea[])`;
  return {
    sql: `SELECT ${textOf(key)} AS key, ${textOf(content)} AS content FROM ${table}
      WHERE chain_id = ? AND block_number = ? ${own}`,
    bindings: [chainId, String(number), ...(wallets === undefined ? [] : [wallets.join(',')])],
  };
}

function expectedRows({ key, content }: Check, rows: readonly AnyRow[]): ReadonlyMap<string, string> {
  const text = (names: readonly string[], row: AnyRow) => names.map((name) => row[name] ?? '').join(' ');
  return new Map(rows.map((row) => [text(key, row), text(content, row)]));
}

function differences(
  check: Check,
  expected: ReadonlyMap<string, string>,
  rows: readonly StoredRow[],
): Difference[] {
  const stored = new Map(rows.map(({ key, content }) => [key, content]));
  const wanting = [...expected].flatMap(([key, content]) => {
    const found = stored.get(key);
    if (found === content) return [];
    return [toDifference(check, key, found === undefined ? 'missing' : 'other')];
  });
  const needless = [...stored.keys()].filter((key) => !expected.has(key));
  return [...wanting, ...needless.map((key) => toDifference(check, key, 'needless'))];
}

function toDifference({ table, key }: Check, values: string, kind: Difference['kind']): Difference {
  const parts = values.split(' ').map((value) => value.replace(/^\\x/, '0x'));
  return { table, kind, row: key.map((name, index) => `${name}=${parts[index]}`).join(' ') };
}

/** Returns the expected rows that are not in the table. */
async function missingRows(
  db: Database,
  chainId: string,
  { table, key, columns, on }: Subset,
  rows: AllRows,
): Promise<Difference[]> {
  const expected = rowsTable('e', columns, rows[table]);
  const { rows: found } = await db.raw<{ rows: Record<string, string>[] }>(
    `SELECT ${key.map((name) => `e.${name}::text`).join(', ')} FROM ${expected.sql}
     LEFT JOIN ${table} t ON t.chain_id = :chainId AND ${on} WHERE t.${key[0]} IS NULL`,
    { chainId, ...expected.bindings },
  );
  return found.map((row) => ({ table, kind: 'missing', row: named(key, row) }));
}

const named = (key: readonly string[], row: Readonly<Record<string, string>>): string =>
  key.map((name) => `${name}=${plain(row[name] ?? '')}`).join(' ');

/** Returns approvals that differ from their last change. */
async function otherApprovals(
  db: Database,
  chainId: string,
  { wallet_approvals }: AllRows,
): Promise<Difference[]> {
  const given = rowsTable('u', approvalKey, wallet_approvals);
  const key = approvalKey.map((name) => `c.${name}`).join(', ');
  const [spender, amount, granted] = ['spender', 'amount', 'granted'].map(newestChange);
  const { rows } = await db.raw<{ rows: Record<string, string>[] }>(
    `SELECT s.wallet::text, s.contract::text, s.kind::text, s.token_id::text
     FROM (SELECT ${key}, ${spender} AS spender, ${amount} AS amount, ${granted} AS granted
       FROM approval_changes c JOIN ${given.sql} USING (${approvalKey.join(', ')})
       WHERE c.chain_id = :chainId GROUP BY ${key}) s
     LEFT JOIN wallet_approvals a ON a.chain_id = :chainId
       AND ${approvalKey.map((name) => `a.${name} = s.${name}`).join(' AND ')}
     WHERE (a.spender, a.amount, a.granted) IS DISTINCT FROM (s.spender, s.amount, s.granted)`,
    { chainId, ...given.bindings },
  );
  return rows.map((row) => ({
    table: 'wallet_approvals',
    kind: 'other',
    row: named(['wallet', 'contract', 'kind', 'token_id'], row),
  }));
}

/** Returns tokens of which a wallet has another amount than the sum of its changes. */
async function otherHoldings(db: Database, chainId: string, { nft_changes }: AllRows): Promise<Difference[]> {
  const moved = rowsTable('t', ['wallet', 'contract', 'token_id'], nft_changes);
  const { rows } = await db.raw<{ rows: Record<string, string>[] }>(
    `WITH touched AS (SELECT DISTINCT * FROM ${moved.sql}),
      sums AS (SELECT c.wallet, c.contract, c.token_id,
          CASE WHEN max(c.standard) = 721
            THEN (array_agg(c.gained::int ORDER BY c.block_number DESC, c.log_index DESC, c.part DESC))[1]
            ELSE sum(c.delta) FILTER (WHERE c.standard = 1155) END AS amount,
          (max(ARRAY[c.block_number, c.log_index]) FILTER (WHERE c.gained))[1] AS acquired_block,
          (max(ARRAY[c.block_number, c.log_index]) FILTER (WHERE c.gained))[2] AS acquired_log,
          max(c.block_number) AS changed_block
        FROM nft_changes c JOIN touched USING (wallet, contract, token_id) WHERE c.chain_id = :chainId
        GROUP BY c.wallet, c.contract, c.token_id)
     SELECT s.wallet::text, s.contract::text, s.token_id::text FROM sums s
     LEFT JOIN nft_holdings h ON h.chain_id = :chainId AND h.wallet = s.wallet AND h.contract = s.contract
       AND h.token_id = s.token_id
     -- What a wallet had before the index began counts as acquired at block 0.
     WHERE (h.amount, nullif(h.acquired_block, 0), CASE WHEN h.acquired_block <> 0 THEN h.acquired_log END, h.changed_block)
       IS DISTINCT FROM (s.amount + CASE h.standard WHEN 721 THEN 0 ELSE coalesce(h.start_amount, 0) END,
         nullif(s.acquired_block, 0), CASE WHEN s.acquired_block <> 0 THEN s.acquired_log END::int, s.changed_block)`,
    { chainId, ...moved.bindings },
  );
  return rows.map((row) => ({
    table: 'nft_holdings',
    kind: 'other',
    row: named(['wallet', 'contract', 'token_id'], row),
  }));
}

const plain = (bytes: string) => bytes.replace(/^\\x/, '0x');

/** Whether the index keeps credits and approvals of this block. */
async function hasLedger(db: Database, chainId: string, block: bigint): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    'SELECT 1 FROM index_state WHERE chain_id = ? AND ledger_from <= ?',
    [chainId, String(block)],
  );
  return rows.length > 0;
}
