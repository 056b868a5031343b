import type { Tx } from '../../contract/transaction.ts';
import type { LedgerGroup } from './ledger-group.ts';

/*
 * News of transfers, in the transaction that reads them or takes them back. The rows of the NFTs are locked before. A mint is no
 * transfer here: its news is `nft.minted`.
 */

const zero = `'0x0000000000000000000000000000000000000000'`;
const nftsOf = (transfers: string) => `
  FROM ${transfers} JOIN rwas r ON r.number = div(t.token_id, 18446744073709551616)::bigint AND r.chain_id = :chainId
    AND r.contract_address = t.contract
  JOIN nfts n ON n.rwa_id = r.id AND n.token_id = t.token_id WHERE t.from_address <> ${zero}`;
const told = `'nftId', n.id, 'rwaId', n.rwa_id, 'state', n.mint_state, 'transactionHash', t.transaction_hash`;

/** Stores news of the transfers in the blocks of a group up to a block. */
export async function insertTransferNews(
  tx: Tx,
  { chainId, contracts, at }: LedgerGroup,
  to: bigint,
): Promise<void> {
  await tx.raw(
    `INSERT INTO news (company_id, type, subject, data)
     SELECT n.company_id, 'nft.transferred', n.id, jsonb_build_object(${told}, 'owner', nullif(t.to_address, ${zero}))
     ${nftsOf('nft_transfers t')} AND t.chain_id = :chainId AND t.contract = ANY (:contracts::text[])
       AND t.block_number > :from::numeric AND t.block_number <= :to::numeric
     ORDER BY t.block_number, t.log_index`,
    { chainId, contracts: [...contracts], from: at.number.toString(), to: to.toString() },
  );
}

/** A transfer that a reorganisation took back. */
export type GoneTransfer = {
  readonly contract: string;
  readonly tokenId: string;
  readonly from: string;
  readonly transaction: string;
};

/** Stores news that correct those of transfers that were taken back, with the owner that the NFT has again. */
export async function insertCorrections(
  tx: Tx,
  chainId: string,
  gone: readonly GoneTransfer[],
): Promise<void> {
  await tx.raw(
    `INSERT INTO news (company_id, type, subject, data)
     SELECT n.company_id, 'nft.reverted', n.id, jsonb_build_object(${told}, 'owner', n.owner, 'corrects', (
       SELECT m.id FROM news m WHERE m.subject = n.id AND m.type = 'nft.transferred'
         AND m.data ->> 'transactionHash' = t.transaction_hash ORDER BY m.seq DESC LIMIT 1))
     ${nftsOf(
       `unnest(:contracts::text[], :tokens::numeric[], :froms::text[], :transactions::text[])
         WITH ORDINALITY AS t (contract, token_id, from_address, transaction_hash, place)`,
     )} ORDER BY t.place`,
    {
      chainId,
      contracts: gone.map(({ contract }) => contract),
      tokens: gone.map(({ tokenId }) => tokenId),
      froms: gone.map(({ from }) => from),
      transactions: gone.map(({ transaction }) => transaction),
    },
  );
}
