import type { Database } from '../../../contract/transaction.ts';
import type { Freshness } from '../../shared/provider.ts';
import type { Approval } from '../decode/domain.ts';
import { bytes, hex } from '../store/rows/bulk-store.ts';
import { approvalKinds, kindName } from '../store/rows/ledger-rows.ts';
import { freshnessOf, type HeadRow } from './history-store.ts';

/** The name of an approval, in the order of a list. */
export type ApprovalPlace = {
  readonly contract: string;
  readonly kind: Approval['kind'];
  readonly tokenId: bigint;
  /**
   * The spender of an amount or of all tokens; empty for a single token, which only one account may move at a time.
   */
  readonly party: string;
};

/** An approval that was given and not revoked. */
export type GivenApproval = ApprovalPlace & {
  readonly spender: string;
  readonly amount: bigint;
  readonly changedBlock: bigint;
  /** Whether the owner did not sign it, and nothing confirms it. */
  readonly isDoubted: boolean;
  /** How many NFTs of the contract the wallet has, counted up to {@link mostCounted}. */
  readonly held: number;
};

export type ApprovalRequest = {
  readonly chainId: string;
  readonly wallet: string;
  readonly limit: number;
  readonly after: ApprovalPlace | undefined;
};

const mostCounted = 1_000;

type Row = HeadRow & {
  readonly contract: Buffer | null;
  readonly kind: number;
  readonly token_id: string;
  readonly party: Buffer;
  readonly spender: Buffer;
  readonly amount: string;
  readonly changed_block: string;
  readonly is_doubted: boolean | null;
  readonly held: number;
};

const place = 'contract, kind, token_id, party';

function toGiven(row: Row): GivenApproval[] {
  if (row.contract === null) return [];
  return [
    {
      contract: hex(row.contract),
      kind: kindName(approvalKinds, row.kind),
      tokenId: BigInt(row.token_id),
      party: hex(row.party),
      spender: hex(row.spender),
      amount: BigInt(row.amount),
      changedBlock: BigInt(row.changed_block),
      isDoubted: row.is_doubted === true,
      held: row.held,
    },
  ];
}

/**
 * SQL of whether an approval `a` was doubted when its row was written, and still is: `writeApproval` and `writeVerdicts`
 * have the forms.
 */
const isDoubted = `(SELECT true FROM wallet_history w CROSS JOIN LATERAL json_array_elements(w.moves -> 'a') e
  WHERE w.chain_id = :chainId AND w.wallet = :wallet::bytea AND w.block_number = a.changed_block
    AND (e ->> 5)::int = a.changed_log AND e ->> 6 = '1' AND w.verdicts ->> a.changed_log::text IS NULL LIMIT 1)`;

/** The statement of a page, apart from what runs it. */
export function approvalQuery({ chainId, wallet, limit, after }: ApprovalRequest) {
  const own = 'chain_id = :chainId AND wallet = :wallet::bytea';
  const from =
    after === undefined ? '' : `AND (${place}) > (:contract::bytea, :kind, :tokenId::numeric, :party::bytea)`;
  const sql = `SELECT s.head_number, s.head_hash, s.head_time, a.*,
      CASE WHEN a.kind = ${approvalKinds.all} THEN (SELECT count(*)::int FROM (SELECT 1 FROM nft_holdings h WHERE h.${own.replace(' AND ', ' AND h.')}
        AND h.contract = a.contract AND h.amount > 0 LIMIT ${mostCounted}) c) ELSE 0 END AS held, ${isDoubted} AS is_doubted
    FROM index_state s LEFT JOIN LATERAL (SELECT ${place}, spender, amount, changed_block, changed_log FROM wallet_approvals
      WHERE ${own} AND granted ${from} ORDER BY ${place} LIMIT :limit) a ON true
    WHERE s.chain_id = :chainId ORDER BY ${place}`;
  return {
    sql,
    bindings: {
      chainId,
      wallet: bytes(wallet),
      limit,
      ...(after !== undefined && {
        contract: bytes(after.contract),
        kind: approvalKinds[after.kind],
        tokenId: String(after.tokenId),
        party: bytes(after.party),
      }),
    },
  };
}

/** A page of what a wallet has approved. @returns undefined when the network has no indexed block */
export async function listGivenApprovals(
  db: Database,
  request: ApprovalRequest,
): Promise<{ readonly rows: readonly GivenApproval[]; readonly completeTo: Freshness } | undefined> {
  const { sql, bindings } = approvalQuery(request);
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings);
  const completeTo = freshnessOf(rows[0]);
  return completeTo && { completeTo, rows: rows.flatMap(toGiven) };
}
