import { zeroAddress } from '../../chain/address.ts';
import type { Tx } from '../../contract/transaction.ts';
import type { LedgerGroup } from './ledger-group.ts';

/*
 * News of transfers, in the transaction that reads them or takes them back. The rows of the NFTs are locked before. The first
 * mint of a token is no transfer here: its news is `nft.minted`. A mint after a burn is a transfer.
 */

const zero = `'${zeroAddress}'`;
const nftsOf = (transfers: string) => `
  FROM ${transfers} JOIN rwas r ON r.number = div(t.token_id, 18446744073709551616)::bigint AND r.chain_id = :chainId
    AND r.contract_address = t.contract
  JOIN nfts n ON n.rwa_id = r.id AND n.token_id = t.token_id`;
const isNoFirstMint = (t: string) => `(${t}.from_address <> ${zero} OR EXISTS (
  SELECT FROM nft_transfers e WHERE e.chain_id = ${t}.chain_id AND e.contract = ${t}.contract AND e.token_id = ${t}.token_id
    AND (e.block_number, e.log_index) < (${t}.block_number, ${t}.log_index)))`;
const inBlocks = `t.chain_id = :chainId AND t.contract = ANY (:contracts::text[])
  AND t.block_number > :from::numeric AND t.block_number <= :to::numeric AND ${isNoFirstMint('t')}`;
// A lane has yet to store that the NFT is minted.
const isAwaited = `n.mint_state IN ('queued', 'submitted')`;
const told = `'nftId', n.id, 'rwaId', n.rwa_id, 'state', n.mint_state, 'transactionHash', t.transaction_hash`;

/**
 * Stores news of the transfers in the blocks of a group up to a block. News of an NFT that is not minted yet wait: the trigger of
 * `nfts` writes them behind the news of the mint.
 */
export async function insertTransferNews(
  tx: Tx,
  { chainId, contracts, at }: LedgerGroup,
  to: bigint,
): Promise<void> {
  const values = { chainId, contracts: [...contracts], from: at.number.toString(), to: to.toString() };
  await tx.raw(
    `INSERT INTO news (company_id, type, subject, data)
     SELECT n.company_id, 'nft.transferred', n.id, jsonb_build_object(${told}, 'owner', nullif(t.to_address, ${zero}))
     ${nftsOf('nft_transfers t')} WHERE ${inBlocks} AND NOT ${isAwaited} ORDER BY t.block_number, t.log_index`,
    values,
  );
  await tx.raw(
    `UPDATE nft_transfers w SET news_waits = true ${nftsOf('nft_transfers t')} WHERE ${inBlocks} AND ${isAwaited}
       AND (w.chain_id, w.contract, w.token_id, w.block_number, w.log_index)
         = (t.chain_id, t.contract, t.token_id, t.block_number, t.log_index)`,
    values,
  );
}

/** SQL for whether the news of a transfer are written. It sees the rows of its token from before the statement. @param t its alias */
export const hasNewsSql = (t: string): string => `(NOT ${t}.news_waits AND ${isNoFirstMint(t)})`;

/** A transfer that a reorganisation took back. */
export type GoneTransfer = {
  readonly contract: string;
  readonly tokenId: string;
  readonly transaction: string;
};

/**
 * Stores news that correct the news of transfers that were taken back, with the owner that the NFT has again. Transfers
 * and news of one transaction pair up by their place in it, the last with the last. A block has the whole transaction,
 * so all its transfers are gone.
 * @param gone the transfers that have news, the newest first
 */
export async function insertCorrections(
  tx: Tx,
  chainId: string,
  gone: readonly GoneTransfer[],
): Promise<void> {
  await tx.raw(
    `INSERT INTO news (company_id, type, subject, data)
     SELECT g.company_id, 'nft.reverted', g.id, g.data || jsonb_build_object('corrects', c.id)
     FROM (
       SELECT n.company_id, n.id, jsonb_build_object(${told}, 'owner', n.owner) AS data, t.transaction_hash, t.place,
         row_number() OVER (PARTITION BY n.id, t.transaction_hash ORDER BY t.place) - 1 AS later
       ${nftsOf(
         `unnest(:contracts::text[], :tokens::numeric[], :transactions::text[])
         WITH ORDINALITY AS t (contract, token_id, transaction_hash, place)`,
       )}) g LEFT JOIN LATERAL (
       SELECT m.id FROM news m WHERE m.subject = g.id AND m.type = 'nft.transferred'
         AND m.data ->> 'transactionHash' = g.transaction_hash AND NOT EXISTS (
           SELECT FROM news e WHERE e.subject = g.id AND e.type = 'nft.reverted' AND e.data ->> 'corrects' = m.id::text)
       ORDER BY m.seq DESC OFFSET g.later LIMIT 1) c ON true
     ORDER BY g.place`,
    {
      chainId,
      contracts: gone.map(({ contract }) => contract),
      tokens: gone.map(({ tokenId }) => tokenId),
      transactions: gone.map(({ transaction }) => transaction),
    },
  );
}
