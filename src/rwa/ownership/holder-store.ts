import { zeroAddress } from '../../chain/address.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import type { Rwa } from '../assets/rwa-row.ts';
import type { LedgerBlock } from './ledger-group.ts';

/*
 * Reads the owners of the tokens of an RWA at a block, from the newest transfer of each token up to this block. Every
 * query names the company, except the query of all NFTs of a contract.
 */

/** How far the ledger of an RWA's contract is. */
export type RwaLedger = LedgerBlock & {
  readonly firstBlock: bigint;
  /** Grows with each reorganisation. */
  readonly rollBacks: bigint;
  /** The newest block of the network that is final; undefined while none is known. */
  readonly final: bigint | undefined;
};

type Of = Pick<Rwa, 'companyId' | 'number' | 'chainId' | 'contractAddress'>;

/** Finds how far the ledger of an RWA's contract is; undefined when nothing of it was read. */
export async function findRwaLedger(
  db: Database,
  { chainId, contractAddress }: Pick<Of, 'chainId' | 'contractAddress'>,
): Promise<RwaLedger | undefined> {
  type Row = Record<'first_block' | 'number' | 'hash' | 'roll_backs', string> & {
    time: Date;
    final: string | null;
  };
  const { rows }: { rows: Row[] } = await db.raw(
    `SELECT l.first_block, l.number, l.hash, l.time, l.roll_backs, f.number AS final
     FROM nft_ledgers l LEFT JOIN network_finality f ON f.chain_id = l.chain_id
     WHERE l.chain_id = ? AND l.contract = ? AND l.number >= l.first_block`,
    [chainId, contractAddress],
  );
  const [row] = rows;
  return (
    row && {
      firstBlock: BigInt(row.first_block),
      number: BigInt(row.number),
      hash: row.hash,
      time: row.time,
      rollBacks: BigInt(row.roll_backs),
      final: row.final === null ? undefined : BigInt(row.final),
    }
  );
}

export type Holder = {
  readonly wallet: string;
  readonly count: number;
  readonly tokenIds: readonly string[];
};

// The number of an RWA is the upper part of its token ids, so they are a range of the primary key.
const tokensAt = `
  SELECT DISTINCT ON (t.token_id) t.token_id, t.to_address FROM nft_transfers t
  WHERE t.chain_id = :chainId AND t.contract = :contract AND t.block_number <= :block::numeric
    AND t.token_id BETWEEN :number::numeric * 18446744073709551616 AND (:number::numeric + 1) * 18446744073709551616 - 1
    AND EXISTS (SELECT FROM rwas r WHERE r.number = :number AND r.company_id = :companyId)
  ORDER BY t.token_id, t.block_number DESC, t.log_index DESC`;
const zero = `'${zeroAddress}'`;

const bindingsOf = ({ companyId, number, chainId, contractAddress }: Of, block: bigint) => ({
  companyId,
  chainId,
  contract: contractAddress,
  number: number.toString(),
  block: block.toString(),
});

/**
 * Lists the holders of an RWA at a block, by wallet.
 * @param page.after only wallets after this one
 * @param page.tokens most token ids of a holder; all by default
 */
export async function listHolders(
  db: Database,
  rwa: Of,
  block: bigint,
  page: { readonly after?: string | undefined; readonly limit?: number; readonly tokens?: number } = {},
): Promise<Holder[]> {
  const { after = '', limit = null, tokens = null } = page;
  const { rows }: { rows: { wallet: string; count: number; tokens: string[] }[] } = await db.raw(
    `WITH t AS (${tokensAt})
     SELECT to_address AS wallet, count(*)::int AS count,
       ((array_agg(token_id::text ORDER BY token_id))[1:coalesce(:tokens::int, 2147483647)]) AS tokens
     FROM t WHERE to_address <> ${zero} AND to_address COLLATE "C" > :after
     GROUP BY to_address ORDER BY to_address COLLATE "C" LIMIT :limit::int`,
    { ...bindingsOf(rwa, block), after, limit, tokens },
  );
  return rows.map(({ wallet, count, tokens: tokenIds }) => ({ wallet, count, tokenIds }));
}

/** Counts the holders of an RWA at a block. */
export async function countHolders(tx: Tx, rwa: Of, block: bigint): Promise<number> {
  const { rows }: { rows: { count: number }[] } = await tx.raw(
    `WITH t AS (${tokensAt}) SELECT count(DISTINCT to_address)::int AS count FROM t WHERE to_address <> ${zero}`,
    bindingsOf(rwa, block),
  );
  return rows[0]?.count ?? 0;
}

/** How the tokens of an RWA on the chain and its minted NFTs add up. */
export type HolderTotals = {
  readonly minted: number;
  readonly held: number;
  readonly burned: number;
  /** Minted in a block after the given block. */
  readonly mintedLater: number;
  /** Minted up to this block, without a transfer. */
  readonly noTransfer: number;
  /** Tokens with a transfer up to this block, whose NFTs are not minted in a block up to it. */
  readonly notRecorded: number;
};

/** Counts what the holders of an RWA at a block own, and why that is not the number of minted NFTs. */
export async function countHeld(db: Database, rwa: Of, block: bigint): Promise<HolderTotals> {
  const { rows }: { rows: HolderTotals[] } = await db.raw(
    `WITH t AS (${tokensAt}),
     n AS (SELECT token_id, minted_block > :block::numeric AS is_later FROM nfts
       WHERE company_id = :companyId AND rwa_number = :number AND mint_state = 'minted')
     SELECT count(n.token_id)::int AS minted,
       (count(*) FILTER (WHERE t.to_address <> ${zero}))::int AS held,
       (count(*) FILTER (WHERE t.to_address = ${zero}))::int AS burned,
       (count(*) FILTER (WHERE n.is_later))::int AS "mintedLater",
       (count(*) FILTER (WHERE NOT n.is_later AND t.token_id IS NULL))::int AS "noTransfer",
       (count(*) FILTER (WHERE t.token_id IS NOT NULL AND n.is_later IS NOT FALSE))::int AS "notRecorded"
     FROM t FULL JOIN n ON n.token_id = t.token_id`,
    bindingsOf(rwa, block),
  );
  const [totals] = rows;
  if (totals === undefined) throw new Error('a count without a row');
  return totals;
}

/** The place of an NFT among the NFTs of a contract. */
export type NftPlaceOfContract = { readonly rwaId: string; readonly tokenId: string };

type NftOwner = NftPlaceOfContract & {
  readonly nftId: string;
  /** As the newest transfer up to the block says; null without one, and after a burn. */
  readonly owner: string | null;
};

/** Lists the NFTs of a contract that are minted up to a block, of all companies, with their owners then. */
export async function listNftOwners(
  db: Database,
  {
    chainId,
    contract,
    block,
  }: { readonly chainId: string; readonly contract: string; readonly block: bigint },
  limit: number,
  after: NftPlaceOfContract | undefined,
): Promise<NftOwner[]> {
  const { rows } = await db.raw(
    `SELECT n.id AS "nftId", n.rwa_id AS "rwaId", n.token_id AS "tokenId",
       nullif(t.to_address, ${zero}) AS owner
     FROM nfts n JOIN rwas r ON r.id = n.rwa_id
     LEFT JOIN LATERAL (
       SELECT to_address FROM nft_transfers t WHERE t.chain_id = :chainId AND t.contract = :contract
         AND t.token_id = n.token_id AND t.block_number <= :block::numeric
       ORDER BY t.block_number DESC, t.log_index DESC LIMIT 1) t ON true
     WHERE r.chain_id = :chainId AND r.contract_address = :contract AND n.mint_state = 'minted'
       AND n.minted_block <= :block::numeric
       AND (:rwaId::uuid IS NULL OR (n.rwa_id, n.token_id) > (:rwaId::uuid, :tokenId::numeric))
     ORDER BY n.rwa_id, n.token_id LIMIT :limit`,
    {
      chainId,
      contract,
      block: block.toString(),
      limit,
      rwaId: after?.rwaId ?? null,
      tokenId: after?.tokenId ?? null,
    },
  );
  return rows;
}
