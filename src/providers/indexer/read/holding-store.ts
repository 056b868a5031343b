import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../shared/provider.ts';
import type { NftStandard } from '../decode/domain.ts';
import { bytes, hex } from '../store/rows/bulk-store.ts';
import { freshnessOf, type HeadRow } from './history-store.ts';
import { type HoldingPlace, type HoldingRequest, holdingQuery, pastQuery } from './holding-queries.ts';

/** What a wallet owns of one token. */
export type IndexedHolding = {
  readonly contract: string;
  readonly tokenId: bigint;
  readonly standard: NftStandard;
  readonly amount: bigint;
  readonly acquired: { readonly blockNumber: bigint; readonly logIndex: number };
  readonly changedBlock: bigint;
};

type Row = HeadRow & {
  readonly contract: Buffer | null;
  readonly token_id: string;
  readonly standard: number;
  readonly amount: string;
  readonly acquired_block: string;
  readonly acquired_log: number;
  readonly changed_block: string;
  /** Of a list as of long ago: how many acquisitions were read, and the last of them. */
  readonly examined?: number;
  readonly edge_block?: string | null;
  readonly edge_log?: number | null;
  readonly edge_contract?: Buffer | null;
  readonly edge_token?: string | null;
};

export type HoldingRows = {
  readonly rows: readonly IndexedHolding[];
  readonly completeTo: Freshness;
  /** Set where the page ended before it was full, because it read its limit: the next page begins there. */
  readonly goesOnAt: HoldingPlace | undefined;
};

function toHolding(row: Row): IndexedHolding[] {
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

// With more changes than these after the block of a list, the list is made in another way.
const fewChanges = 2_000;

/** A page of the tokens that one wallet owns. @returns undefined when the network has no indexed block */
export async function listHoldings(db: Database, request: HoldingRequest): Promise<HoldingRows | undefined> {
  const examined = (await isLongAgo(db, request)) ? fewChanges : undefined;
  const { sql, bindings } = examined === undefined ? holdingQuery(request) : pastQuery(request, examined);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  const completeTo = freshnessOf(rows[0]);
  if (completeTo === undefined) return undefined;
  return { completeTo, rows: rows.flatMap(toHolding), goesOnAt: edgeOf(rows[0], examined) };
}

/** Returns whether too much changed since the block of the list to undo it. */
async function isLongAgo(db: Database, { chainId, wallet, asOf }: HoldingRequest): Promise<boolean> {
  if (asOf === undefined) return false;
  const { rows } = await db.raw<{ rows: [{ changes: number }] }>(
    `SELECT count(*)::int AS changes FROM (SELECT 1 FROM nft_changes
       WHERE chain_id = ? AND wallet = ?::bytea AND block_number > ? LIMIT ?) later`,
    [chainId, bytes(wallet), String(asOf), fewChanges + 1],
  );
  return rows[0].changes > fewChanges;
}

/** Where the read ended, if more is left. */
function edgeOf(row: Row | undefined, examined: number | undefined): HoldingPlace | undefined {
  const { edge_block: block, edge_log: log, edge_contract: contract, edge_token: token } = row ?? {};
  if (examined === undefined || row?.examined !== examined) return undefined;
  if (block == null || log == null || contract == null || token == null) return undefined;
  return {
    contract: hex(contract),
    tokenId: BigInt(token),
    acquired: { blockNumber: BigInt(block), logIndex: log },
  };
}
