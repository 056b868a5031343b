import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../provider.ts';
import type { NftStandard } from '../domain.ts';
import { bytes, hex } from '../store/bulk-store.ts';
import { freshnessOf } from './history-store.ts';

/** What a wallet owns of one token. */
export type Holding = {
  readonly contract: string;
  readonly tokenId: bigint;
  readonly standard: NftStandard;
  readonly amount: bigint;
  readonly acquired: { readonly blockNumber: bigint; readonly logIndex: number };
  readonly changedBlock: bigint;
};

/** A place in the order of a list: block and log of the last acquisition, then contract and token id. */
export type HoldingPlace = Pick<Holding, 'contract' | 'tokenId' | 'acquired'>;

export type HoldingRequest = {
  readonly chainId: string;
  readonly wallet: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  /** The list is as of this block, so that it does not change while a caller pages through it; undefined for now. */
  readonly asOf: bigint | undefined;
  readonly after: HoldingPlace | undefined;
  /** Only tokens of these contracts; undefined for all. */
  readonly contracts?: readonly string[] | undefined;
};

type Row = {
  readonly head_number: string | null;
  readonly head_hash: Buffer;
  readonly head_time: Date;
  readonly contract: Buffer | null;
  readonly token_id: string;
  readonly standard: number;
  readonly amount: string;
  readonly acquired_block: string;
  readonly acquired_log: number;
  readonly changed_block: string;
};

export type HoldingRows = { readonly rows: readonly Holding[]; readonly completeTo: Freshness };

function toHolding(row: Row): Holding[] {
  if (row.contract === null) return [];
  return [
    {
      contract: hex(row.contract),
      tokenId: BigInt(row.token_id),
      standard: row.standard === 721 ? 'ERC721' : 'ERC1155',
      amount: BigInt(row.amount),
      acquired: { blockNumber: BigInt(row.acquired_block), logIndex: row.acquired_log },
      changedBlock: BigInt(row.changed_block),
    },
  ];
}

/** A page of the tokens that one wallet owns. @returns undefined when the network has no indexed block */
export async function listHoldings(db: Database, request: HoldingRequest): Promise<HoldingRows | undefined> {
  const { sql, bindings } = holdingQuery(request);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  const completeTo = freshnessOf(rows[0]);
  if (completeTo === undefined) return undefined;
  return { completeTo, rows: rows.flatMap(toHolding) };
}

const columns = 'contract, token_id, standard, amount, acquired_block, acquired_log, changed_block';
const place = 'acquired_block, acquired_log, contract, token_id';

const contractList = "string_to_array(:contracts, ',')::bytea[]";

const directions = {
  ASC: { comparison: '>', order: 'acquired_block, acquired_log, contract, token_id' },
  DESC: { comparison: '<', order: 'acquired_block DESC, acquired_log DESC, contract DESC, token_id DESC' },
} as const;

/**
 * Few tokens changed after the block of the list: their state as of that block is computed from their changes. All
 * others are read as they are now, in the order of the database index.
 */
export function holdingQuery({ chainId, wallet, order, limit, asOf, after, contracts }: HoldingRequest) {
  const { comparison, order: sorted } = directions[order];
  const from =
    after === undefined ? '' : `AND (${place}) ${comparison} (:block, :log, :contract::bytea, :token)`;
  const own = 'chain_id = :chainId AND wallet = :wallet::bytea';
  const touched = `touched AS MATERIALIZED (SELECT DISTINCT contract, token_id FROM nft_changes
      WHERE ${own} AND block_number > :asOf
        ${contracts === undefined ? '' : `AND contract = ANY (${contractList})`})`;
  const past = `past AS (SELECT ${columns} FROM (
      SELECT c.contract, c.token_id, max(c.standard) AS standard,
        CASE WHEN max(c.standard) = 721
          THEN (array_agg(c.gained::int ORDER BY c.block_number DESC, c.log_index DESC, c.part DESC))[1]
          ELSE sum(c.delta) FILTER (WHERE c.standard = 1155) END AS amount,
        (max(ARRAY[c.block_number, c.log_index]) FILTER (WHERE c.gained))[1] AS acquired_block,
        (max(ARRAY[c.block_number, c.log_index]) FILTER (WHERE c.gained))[2]::int AS acquired_log,
        max(c.block_number) AS changed_block
      FROM nft_changes c JOIN touched USING (contract, token_id)
      WHERE c.chain_id = :chainId AND c.wallet = :wallet::bytea AND c.block_number <= :asOf
      GROUP BY c.contract, c.token_id) sums WHERE amount > 0)`;
  const untouched = `AND NOT EXISTS
    (SELECT 1 FROM touched t WHERE t.contract = h.contract AND t.token_id = h.token_id)`;
  const rows = `${from} ${asOf === undefined ? '' : untouched} ORDER BY ${sorted} LIMIT :limit`;
  const held = `SELECT ${columns} FROM nft_holdings h WHERE ${own} AND amount > 0`;
  // One range of an index for each contract.
  const present =
    contracts === undefined
      ? `${held} ${rows}`
      : `SELECT o.* FROM unnest(${contractList}) l (listed)
         CROSS JOIN LATERAL (${held} AND contract = l.listed ${rows}) o ORDER BY ${sorted} LIMIT :limit`;
  const list =
    asOf === undefined
      ? present
      : `(${present}) UNION ALL SELECT ${columns} FROM past WHERE true ${from} ORDER BY ${sorted} LIMIT :limit`;
  const sql = `${asOf === undefined ? '' : `WITH ${touched}, ${past}`}
    SELECT s.head_number, s.head_hash, s.head_time, r.*
    FROM index_state s LEFT JOIN LATERAL (${list}) r ON true
    WHERE s.chain_id = :chainId ORDER BY ${sorted}`;
  return {
    sql,
    bindings: {
      ...{ chainId, wallet: bytes(wallet), limit },
      ...(contracts !== undefined && { contracts: contracts.map(bytes).join(',') }),
      ...boundary(asOf, after),
    },
  };
}

function boundary(asOf: bigint | undefined, after: HoldingPlace | undefined) {
  const block = asOf === undefined ? {} : { asOf: String(asOf) };
  if (after === undefined) return block;
  const { acquired, contract, tokenId } = after;
  return {
    ...block,
    block: String(acquired.blockNumber),
    log: acquired.logIndex,
    contract: bytes(contract),
    token: String(tokenId),
  };
}
