import type { Database } from '../../../contract/transaction.ts';
import type { MintState } from '../../assets/nft-row.ts';
import { leastTimedNumber, rwaNumberOf } from '../../assets/token-id.ts';
import type { TokenRow } from './token-verdict.ts';

/*
 * Rows of `rwas` and `nfts` by the tokens of a contract, over all companies.
 */

/** A contract on a network; the address in EIP-55. */
export type ContractId = { readonly chainId: string; readonly contract: string };

type Row = {
  token_id: string;
  rwa_id: string | null;
  number: string | null;
  final_block: string | null;
  nft_id: string | null;
  mint_state: MintState | null;
  recipient: string | null;
  minted_tx: string | null;
  minted_block: string | null;
};

function toTokenRow(row: Row): TokenRow {
  const { nft_id: id, mint_state: state, rwa_id: rwaId, number, final_block: finalBlock } = row;
  return {
    tokenId: row.token_id,
    rwa:
      rwaId === null || number === null || finalBlock === null
        ? null
        : { id: rwaId, number: BigInt(number), finalBlock: BigInt(finalBlock) },
    nft:
      id === null || state === null
        ? null
        : {
            id,
            state,
            recipient: row.recipient,
            mintedTx: row.minted_tx,
            mintedBlock: row.minted_block,
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
    `SELECT w.token_id, r.id AS rwa_id, r.number, r.final_block, n.id AS nft_id, n.mint_state, n.recipient,
       n.minted_tx, n.minted_block
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
 * Lists NFTs that are minted in these blocks according to their rows, without the NFTs of these tokens; at most 1,000.
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

/** Before what nothing of a contract was minted. */
type Beginnings = {
  /** The lowest block that was final when an asset was made; null when none is known. */
  readonly block: string | null;
  /** When the first of the assets without such a block was made; null when there is none. */
  readonly madeAt: Date | null;
};

/** Finds where the mints of a contract's assets can begin. @param usesBlocks false: by time only */
export async function findBeginnings(
  db: Database,
  { chainId, contract }: ContractId,
  usesBlocks: boolean,
): Promise<Beginnings> {
  const { rows }: { rows: Beginnings[] } = await db.raw(
    `SELECT min(final_block) FILTER (WHERE has_block) AS block, min(created_at) FILTER (WHERE NOT has_block) AS "madeAt"
     FROM (SELECT final_block, created_at, number >= ${leastTimedNumber} AND final_block > 0 AND :usesBlocks AS has_block
       FROM rwas WHERE chain_id = :chainId AND contract_address = :contract) r`,
    { chainId, contract, usesBlocks },
  );
  return rows[0] ?? { block: null, madeAt: null };
}

/**
 * Whether the database has a transaction of this account with this nonce or a later nonce. A restored database lacks
 * transactions with later nonces only.
 */
export async function hasLaterNonce(
  db: Database,
  chainId: string,
  { from, nonce }: { readonly from: string; readonly nonce: bigint },
): Promise<boolean> {
  const later = db('mint_transactions').where({ chain_id: chainId, signer: from });
  return (await later.where('nonce', '>=', nonce.toString()).first('id')) !== undefined;
}

/** Whether a transaction of this hash is an attempt that this deployment has signed and stored. */
export async function isOwnAttempt(db: Database, hash: string): Promise<boolean> {
  return (await db('mint_attempts').where({ hash: hash.toLowerCase() }).first('hash')) !== undefined;
}
