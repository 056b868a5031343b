import type { Database } from '../../../contract/transaction.ts';
import type { MintState } from '../../assets/nft-row.ts';
import { rwaNumberOf } from '../../assets/token-id.ts';
import type { TokenRow } from './token-verdict.ts';

/*
 * Rows of `rwas` and `nfts` by the tokens of a contract, over all companies.
 */

/** A contract on a network; the address in EIP-55. */
export type ContractId = { readonly chainId: string; readonly contract: string };

type Row = {
  token_id: string;
  rwa_id: string | null;
  company_id: string | null;
  rwa_created_at: Date | null;
  nft_id: string | null;
  mint_state: MintState | null;
  recipient: string | null;
  minted_tx: string | null;
  minted_block: string | null;
  minted_at: Date | null;
  created_at: Date | null;
};

function toTokenRow(row: Row): TokenRow {
  const { nft_id: id, mint_state: state, created_at: createdAt } = row;
  return {
    tokenId: row.token_id,
    rwa:
      row.rwa_id === null || row.company_id === null || row.rwa_created_at === null
        ? null
        : { id: row.rwa_id, companyId: row.company_id, createdAt: row.rwa_created_at },
    nft:
      id === null || state === null || createdAt === null
        ? null
        : {
            id,
            state,
            createdAt,
            recipient: row.recipient,
            mintedTx: row.minted_tx,
            mintedBlock: row.minted_block,
            mintedAt: row.minted_at,
          },
  };
}

/** Lists the rows of these tokens; a token without asset or NFT has a row with null. */
export async function listTokenRows(
  db: Database,
  { chainId, contract }: ContractId,
  tokenIds: readonly string[],
): Promise<TokenRow[]> {
  const tokens = tokenIds.flatMap((tokenId) => {
    const rwaNumber = rwaNumberOf(tokenId);
    return rwaNumber === undefined ? [] : [{ tokenId, rwaNumber }];
  });
  if (tokens.length === 0) return [];
  const { rows }: { rows: Row[] } = await db.raw(
    `SELECT w.token_id, r.id AS rwa_id, r.company_id, r.created_at AS rwa_created_at, n.id AS nft_id,
       n.mint_state, n.recipient, n.minted_tx, n.minted_block, n.minted_at, n.created_at
     FROM unnest(:tokens::numeric[], :numbers::bigint[]) AS w (token_id, number)
     LEFT JOIN rwas r ON r.number = w.number AND r.chain_id = :chainId AND r.contract_address = :contract
     LEFT JOIN nfts n ON n.rwa_id = r.id AND n.token_id = w.token_id`,
    {
      chainId,
      contract,
      tokens: tokens.map(({ tokenId }) => tokenId),
      numbers: tokens.map(({ rwaNumber }) => rwaNumber.toString()),
    },
  );
  return rows.map(toTokenRow);
}

export type MintedRow = { readonly nftId: string; readonly tokenId: string };

const mostUnseen = 1_000;

// Asked by network, so that blocks of others are not read. A row that somebody has made minted by hand may lack its network.
const mintedWithin = (isOfNetwork: string) => `
  SELECT id, token_id, rwa_id, minted_block FROM nfts
  WHERE mint_state = 'minted' AND ${isOfNetwork}
    AND minted_block >= :from AND (:to::numeric IS NULL OR minted_block <= :to)`;

/**
 * Lists NFTs that are minted in these blocks according to their rows, but for those of these tokens; at most 1,000.
 * @param to undefined for all blocks from `from` on
 */
export async function listUnseenMinted(
  db: Database,
  { chainId, contract }: ContractId,
  { from, to }: { readonly from: bigint; readonly to: bigint | undefined },
  seenTokenIds: readonly string[],
): Promise<MintedRow[]> {
  const { rows }: { rows: MintedRow[] } = await db.raw(
    `SELECT n.id AS "nftId", n.token_id AS "tokenId"
     FROM (${mintedWithin('mint_chain_id = :chainId')} UNION ALL ${mintedWithin('mint_chain_id IS NULL')}) n
     JOIN rwas r ON r.id = n.rwa_id
     WHERE r.chain_id = :chainId AND r.contract_address = :contract AND n.token_id <> ALL (:seen::numeric[])
     ORDER BY n.minted_block, n.id LIMIT ${mostUnseen}`,
    { chainId, contract, from: from.toString(), to: to?.toString() ?? null, seen: [...seenTokenIds] },
  );
  return rows;
}

/** When the oldest asset of a contract was made; undefined when none has it. */
export async function findOldestAsset(
  db: Database,
  { chainId, contract }: ContractId,
): Promise<Date | undefined> {
  const { rows }: { rows: { created: Date | null }[] } = await db.raw(
    'SELECT min(created_at) AS created FROM rwas WHERE chain_id = :chainId AND contract_address = :contract',
    { chainId, contract },
  );
  return rows[0]?.created ?? undefined;
}

/** Whether a transaction of this hash is an attempt that this deployment has signed and stored. */
export async function isOwnAttempt(db: Database, hash: string): Promise<boolean> {
  return (await db('mint_attempts').where({ hash: hash.toLowerCase() }).first('hash')) !== undefined;
}
