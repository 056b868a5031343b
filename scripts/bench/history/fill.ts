import { insertNetwork } from '../../../src/chain/network-store.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { kindNumber } from '../../../src/providers/indexer/classify/kinds.ts';
import { testNetwork } from '../../../test/support/networks.ts';

/** Whose pages are asked for; every fifth row is of this wallet, as busy accounts are spread over all blocks. */
export const busyWallet = `0x${'ab'.repeat(20)}`;
export const chainId = '31337';
/** One in a thousand of the busy wallet's rows moves it. */
export const rareToken = `0x${'fe'.repeat(20)}`;

const inBlock = 130;
const busyEvery = 5;
const chunk = 200_000;

type FillOptions = { readonly db: Database; readonly rows: number; readonly say: (line: string) => void };

/** Fills an index with transfers in the order of the chain, a fifth of them of one wallet, the others of 200,000. */
export async function fillHistory({ db, rows, say }: FillOptions): Promise<object> {
  await insertNetwork(db, testNetwork(['http://127.0.0.1:9']));
  // Rows come in the order in which an index writes them; only its primary key is built afterwards.
  await db.raw('ALTER TABLE wallet_history DROP CONSTRAINT wallet_history_pkey');
  let next = 1;
  const lane = async () => {
    while (next <= rows) {
      const first = next;
      next += chunk;
      const range = { chainId, first, last: Math.min(first + chunk - 1, rows) };
      await db.raw(insertRows, range);
      await db.raw(insertFacets, range);
      if (first % 1_000_000 === 1) say(`  ${first - 1} of ${rows} rows`);
    }
  };
  await Promise.all([lane(), lane()]);
  say('  indexes');
  await db.transaction(async (tx) => {
    await tx.raw("SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'");
    await tx.raw('ALTER TABLE wallet_history ADD PRIMARY KEY (chain_id, wallet, block_number, tx_index)');
    await tx.raw('ANALYZE wallet_history');
    await tx.raw('ANALYZE history_facets');
  });
  await db.raw(
    `INSERT INTO index_state (chain_id, start_block, head_number, head_hash, head_time)
     VALUES (?, 0, ?, sha256('head'), now())`,
    [chainId, Math.ceil(rows / inBlock)],
  );
  await db.raw(
    `INSERT INTO token_contracts (chain_id, contract, standard, name, symbol, decimals, read_at)
     SELECT ?, decode(lpad(to_hex(n), 40, 'c'), 'hex'), 20, 'Coin ' || n, 'C' || n, 6, now() FROM generate_series(0, 49) n`,
    [chainId],
  );
  return {};
}

/** Where the busy wallet's row of this number stands, counted from 1, newest first. */
export function placeOf(row: number, rows: number): { readonly blockNumber: number; readonly index: number } {
  const n = busyEvery * (Math.floor(rows / busyEvery) - row + 1);
  return { blockNumber: Math.floor(n / inBlock), index: n % inBlock };
}

const kinds = {
  token: kindNumber({ category: 'token send', isSpam: false, directions: 1 }),
  native: kindNumber({ category: 'send', isSpam: false, directions: 1 }),
};
const kindOfRow = `CASE WHEN n % 2 = 0 THEN ${kinds.token} ELSE ${kinds.native} END`;
const drawn = `
    SELECT n,
      CASE WHEN n % ${busyEvery} = 0 THEN repeat('ab', 20) ELSE lpad(to_hex(n * 7919::bigint % 200000), 40, 'd') END AS own,
      lpad(to_hex(n * 104729::bigint % 100000), 40, 'e') AS other,
      CASE WHEN n % ${busyEvery * 1_000} = 0 THEN repeat('fe', 20) ELSE lpad(to_hex(n / 2 % 50), 40, 'c') END AS token
    FROM generate_series(:first::bigint, :last::bigint) n`;

// Of the busy wallet alone: nobody searches the others. The forms are as in search/facets.ts.
const insertFacets = `
  INSERT INTO history_facets (chain_id, wallet, facet, kind, block_number, tx_index)
  SELECT :chainId, decode(own, 'hex'), decode(facet, 'hex'), ${kindOfRow}, n / ${inBlock}, n % ${inBlock}
  FROM (${drawn}) drawn CROSS JOIN LATERAL (
    SELECT '01' || left(other, 20) AS facet
    UNION ALL SELECT '02' || left(token, 20) WHERE n % 2 = 0
    UNION ALL SELECT '03' || left(token, 16) || left(other, 16) WHERE n % 2 = 0) facets
  WHERE n % ${busyEvery} = 0
  ON CONFLICT DO NOTHING`;

// The texts are as store/stored-moves.ts writes them: every other row pays in a token, the rest in the native asset.
const insertRows = `
  INSERT INTO wallet_history
    (chain_id, wallet, block_number, tx_index, tx_hash, block_hash, block_time, tx, moves, kind)
  SELECT :chainId, decode(own, 'hex'), n / ${inBlock}, n % ${inBlock}, sha256(n::text::bytea),
    sha256((n / ${inBlock})::text::bytea), to_timestamp(1700000000 + n / ${inBlock} * 12),
    format('["%s","0x%s","0x%s",null,"%s","65000","1500000007","51234","76851000358638",1,%s]', n % 1000, own,
      CASE WHEN n % 2 = 0 THEN token ELSE other END, CASE WHEN n % 2 = 0 THEN 0 ELSE n END,
      CASE WHEN n % 2 = 0 THEN '"0xa9059cbb"' ELSE 'null' END)::json,
    CASE WHEN n % 2 = 0 THEN format('{"e":[["0x%s","0x%s","0x%s","%s",%s,0]]}', token, own, other, n, n % 200)
      ELSE format('{"n":[["0x%s","0x%s","%s",0]]}', own, other, n) END::json,
    ${kindOfRow}
  FROM (${drawn}) drawn`;
