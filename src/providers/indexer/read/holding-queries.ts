import { stateOf } from '../store/rollback/holding-state.ts';
import { bytes } from '../store/rows/bulk-store.ts';

/** A place in the order of a list: block and log of the last acquisition, then contract and token id. */
export type HoldingPlace = {
  readonly contract: string;
  readonly tokenId: bigint;
  readonly acquired: { readonly blockNumber: bigint; readonly logIndex: number };
};

export type HoldingRequest = {
  readonly chainId: string;
  readonly wallet: string;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  /** The list is as of this block, so it does not change while a caller pages through it; undefined for now. */
  readonly asOf: bigint | undefined;
  readonly after: HoldingPlace | undefined;
  /** Only tokens of these contracts; undefined for all. */
  readonly contracts?: readonly string[] | undefined;
};

// The statements of pages, without the code that runs them: tests ask for their plans.
const columns = 'contract, token_id, standard, amount, acquired_block, acquired_log, changed_block';
const place = 'acquired_block, acquired_log, contract, token_id';
const own = 'chain_id = :chainId AND wallet = :wallet::bytea';
const contractList = "string_to_array(:contracts, ',')::bytea[]";

const directions = {
  ASC: { comparison: '>', order: 'acquired_block, acquired_log, contract, token_id' },
  DESC: { comparison: '<', order: 'acquired_block DESC, acquired_log DESC, contract DESC, token_id DESC' },
} as const;

const after = (place: string, comparison: '<' | '>') =>
  `AND (${place}) ${comparison} (:block, :log, :contract::bytea, :token)`;

/**
 * SQL of what the wallet had of a token at the block of the list. What it had before the index began counts as
 * acquired at block 0.
 */
const pastOf = (token: string) => `(SELECT standard, amount, coalesce(acquired_block, 0) AS acquired_block,
    coalesce(acquired_log, 0) AS acquired_log,
    coalesce(changed_block, (SELECT start_block FROM index_state WHERE chain_id = :chainId)) AS changed_block
  FROM ${stateOf(token, ':asOf')} p)`;

/**
 * For a list as of now or a little while ago. The state of the few tokens that changed since is computed from their
 * changes. All others are read as they are now, in the order of the database index.
 */
export function holdingQuery({
  chainId,
  wallet,
  order,
  limit,
  asOf,
  after: begin,
  contracts,
}: HoldingRequest) {
  const { comparison, order: sorted } = directions[order];
  const from = begin === undefined ? '' : after(place, comparison);
  const touched = `touched AS MATERIALIZED (SELECT DISTINCT contract, token_id FROM nft_changes
      WHERE ${own} AND block_number > :asOf
        ${contracts === undefined ? '' : `AND contract = ANY (${contractList})`})`;
  const past = `past AS (SELECT t.contract, t.token_id, n.standard, n.amount, n.acquired_block, n.acquired_log,
      n.changed_block FROM touched t CROSS JOIN LATERAL ${pastOf('t')} n WHERE n.amount > 0)`;
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
  return { sql, bindings: bindingsOf({ chainId, wallet, limit, asOf, after: begin, contracts }) };
}

/**
 * For a list as of long ago, when much has changed since. It reads acquisitions until then in the order of the list.
 * Its rows were the last acquisition of a token that the wallet still had then. A page reads `examined` acquisitions at
 * most. So it may have fewer rows than its limit, or none, although more rows follow.
 */
export function pastQuery(request: HoldingRequest, examined: number) {
  const { order, after: begin, contracts } = request;
  const { comparison, order: sorted } = directions[order];
  const backwards = directions[order === 'ASC' ? 'DESC' : 'ASC'].order;
  const from = (names: string) => (begin === undefined ? '' : after(names, comparison));
  const gains = `SELECT DISTINCT block_number AS acquired_block, log_index AS acquired_log, contract, token_id
    FROM (SELECT block_number, log_index, contract, token_id FROM nft_changes
      WHERE ${own} AND gained AND block_number <= :asOf ${from('block_number, log_index, contract, token_id')}
      ORDER BY ${sorted.replaceAll('acquired_block', 'block_number').replaceAll('acquired_log', 'log_index')}
      LIMIT :examined) g`;
  const [, , contractOrder, tokenOrder] = sorted.split(', ');
  const starts = `SELECT 0::bigint, 0, contract, token_id FROM nft_holdings WHERE ${own} AND start_amount > 0
    ${from('0::bigint, 0, contract, token_id')} ORDER BY ${contractOrder}, ${tokenOrder} LIMIT :examined`;
  // The inner limit makes it a read of one token, whatever the statistics say.
  const later = `LEFT JOIN LATERAL (SELECT true AS is_later FROM nft_changes l WHERE ${own}
      AND l.contract = e.contract AND l.token_id = e.token_id AND l.gained AND l.block_number <= :asOf
      AND (l.block_number, l.log_index) > (e.acquired_block, e.acquired_log) LIMIT 1) l ON true`;
  const sql = `WITH examined AS MATERIALIZED (SELECT * FROM ((${gains}) UNION ALL (${starts})) places
      ORDER BY ${sorted} LIMIT :examined),
    latest AS MATERIALIZED (SELECT e.* FROM examined e ${later} WHERE l.is_later IS NULL
      ${contracts === undefined ? '' : `AND e.contract = ANY (${contractList})`})
    SELECT s.head_number, s.head_hash, s.head_time, (SELECT count(*)::int FROM examined) AS examined,
      edge.acquired_block AS edge_block, edge.acquired_log AS edge_log, edge.contract AS edge_contract,
      edge.token_id AS edge_token, r.*
    FROM index_state s
    LEFT JOIN LATERAL (SELECT * FROM examined ORDER BY ${backwards} LIMIT 1) edge ON true
    LEFT JOIN LATERAL (SELECT e.contract, e.token_id, n.standard, n.amount, e.acquired_block, e.acquired_log, n.changed_block
      FROM latest e CROSS JOIN LATERAL ${pastOf('e')} n WHERE n.amount > 0
      ORDER BY ${sorted.replaceAll(/(\w+)( DESC)?(?=,|$)/g, 'e.$1$2')} LIMIT :limit) r ON true
    WHERE s.chain_id = :chainId
    ORDER BY ${sorted.replaceAll(/(\w+)( DESC)?(?=,|$)/g, 'r.$1$2')}`;
  return { sql, bindings: { ...bindingsOf(request), examined } };
}

type Bound = Pick<HoldingRequest, 'chainId' | 'wallet' | 'limit' | 'asOf' | 'after' | 'contracts'>;

function bindingsOf({ chainId, wallet, limit, asOf, after: begin, contracts }: Bound) {
  return {
    chainId,
    wallet: bytes(wallet),
    limit,
    ...(contracts !== undefined && { contracts: contracts.map(bytes).join(',') }),
    ...(asOf !== undefined && { asOf: String(asOf) }),
    ...(begin !== undefined && {
      block: String(begin.acquired.blockNumber),
      log: begin.acquired.logIndex,
      contract: bytes(begin.contract),
      token: String(begin.tokenId),
    }),
  };
}
