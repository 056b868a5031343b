import type { MintEvent } from '../../chain/minting/evidence-node.ts';
import type { Tx } from '../../contract/transaction.ts';
import type { SealedSecret } from '../assets/claim-secret.ts';
import { stateOfRow } from '../assets/mint-state-sql.ts';
import { newTokenPart, rwaNumberOf, tokenIdSql } from '../assets/token-id.ts';
import type { ContractId } from './compare/token-row-store.ts';

/*
 * Rebuilds rows from the chain, after the database was restored from an older backup: the only changes of mint states,
 * serials and counters, next to `mint-state-store.ts` and `assets/nft-creation-store.ts`. The rows of the NFTs and RWAs
 * are locked before ({@link lockTokens}).
 */

/** A mint of the chain, and the time of its block. */
type Found = { readonly event: MintEvent; readonly time: Date };

/** A mint whose NFT is known. */
export type FoundNft = Found & { readonly nftId: string };

/** A mint whose NFT is lost; its secret is new. */
export type LostNft = Found & {
  readonly nftId: string;
  readonly rwaId: string;
  readonly sealed: SealedSecret;
};

// The same order as everywhere: NFTs by id, then RWAs by id, so that no two transactions deadlock.
export async function lockTokens(
  tx: Tx,
  { chainId, contract }: ContractId,
  tokenIds: readonly string[],
): Promise<void> {
  const numbers = tokenIds.map((tokenId) => rwaNumberOf(tokenId)?.toString() ?? null);
  const bindings = { chainId, contract, tokenIds: [...tokenIds], numbers };
  await tx.raw(
    `SELECT FROM nfts WHERE id IN (
       SELECT n.id FROM unnest(:numbers::bigint[], :tokenIds::numeric[]) AS w (number, token_id)
       JOIN rwas r ON r.number = w.number AND r.chain_id = :chainId AND r.contract_address = :contract
       JOIN nfts n ON n.rwa_id = r.id AND n.token_id = w.token_id) ORDER BY id FOR NO KEY UPDATE`,
    bindings,
  );
  await tx.raw(
    `SELECT FROM rwas WHERE number = ANY (:numbers::bigint[]) AND chain_id = :chainId
       AND contract_address = :contract ORDER BY id FOR NO KEY UPDATE`,
    bindings,
  );
}

const mintBindings = (found: readonly FoundNft[]) => ({
  ids: found.map(({ nftId }) => nftId),
  tokens: found.map(({ event }) => event.tokenId),
  recipients: found.map(({ event }) => event.recipient),
  times: found.map(({ time }) => time),
  hashes: found.map(({ event }) => event.hash),
  blocks: found.map(({ event }) => event.blockNumber.toString()),
});
const mintValues =
  'unnest(:ids::uuid[], :tokens::numeric[], :recipients::text[], :times::timestamptz[], :hashes::text[], :blocks::numeric[]) AS f (id, token_id, recipient, at, hash, block)';

/** Marks NFTs as minted that are not, whatever their state is; a transaction in flight has nothing to do for them. */
export async function mintFoundNfts(tx: Tx, chainId: string, found: readonly FoundNft[]): Promise<void> {
  if (found.length === 0) return;
  await tx.raw(
    `WITH closed AS (
       UPDATE mint_transaction_nfts SET state = 'minted' WHERE state = 'open' AND nft_id = ANY (:ids::uuid[])),
     minted AS (
       UPDATE nfts n SET mint_state = 'minted', token_id = f.token_id, recipient = f.recipient, minted_at = f.at, minted_tx = f.hash,
         minted_block = f.block, mint_error = NULL, mint_chain_id = coalesce(n.mint_chain_id, :chainId)
       FROM ${mintValues} WHERE n.id = f.id AND ${stateOfRow('n')} <> 'minted' RETURNING n.rwa_id)
     UPDATE rwas r SET claimed_nfts = claimed_nfts + m.count
     FROM (SELECT rwa_id, count(*) FROM minted GROUP BY rwa_id) m WHERE r.id = m.rwa_id`,
    { ...mintBindings(found), chainId },
  );
}

/** Sets transaction, block and time of minted NFTs to the values of the chain. */
export async function correctMintedNfts(tx: Tx, found: readonly FoundNft[]): Promise<void> {
  if (found.length === 0) return;
  await tx.raw(
    `UPDATE nfts n SET minted_at = f.at, minted_tx = f.hash, minted_block = f.block
     FROM ${mintValues} WHERE n.id = f.id AND ${stateOfRow('n')} = 'minted'`,
    mintBindings(found),
  );
}

/** Fails NFTs that are under way, and whose tokens others have. A transaction in flight is signed again without them. */
export async function failTakenNfts(
  tx: Tx,
  taken: readonly { readonly nftId: string; readonly reason: string }[],
): Promise<void> {
  if (taken.length === 0) return;
  const bindings = { ids: taken.map(({ nftId }) => nftId), reasons: taken.map(({ reason }) => reason) };
  await tx.raw(
    `WITH closed AS (
       UPDATE mint_transaction_nfts l SET state = 'failed',
         ended_as = CASE WHEN t.state IN ('submitted', 'confirmed') THEN 'failed' END FROM mint_transactions t
       WHERE l.state = 'open' AND l.nft_id = ANY (:ids::uuid[]) AND t.id = l.transaction_id)
     UPDATE nfts n SET mint_state = 'failed', mint_error = f.reason
     FROM unnest(:ids::uuid[], :reasons::text[]) AS f (id, reason)
     WHERE n.id = f.id AND ${stateOfRow('n')} IN ('queued', 'submitted')`,
    bindings,
  );
}

/**
 * Gives an NFT a new token id; its serial stays. One that is submitted is queued again: neither can the contract mint the
 * old token a second time, nor is it its own.
 * @returns its serial and its new token id; undefined when it is minted
 */
export async function replaceTokenId(
  tx: Tx,
  nftId: string,
): Promise<{ readonly serial: string; readonly tokenId: string } | undefined> {
  const { rows } = await tx.raw(
    `WITH released AS (
       UPDATE mint_transaction_nfts SET state = 'released' WHERE state = 'open' AND nft_id = :nftId)
     UPDATE nfts SET token_id = ${tokenIdSql('rwa_number', ':part::bigint')},
       owner = NULL, owner_block = NULL, owner_at = NULL, owner_tx = NULL,
       mint_state = CASE WHEN mint_state = 'submitted' THEN 'queued' ELSE mint_state END
     WHERE id = :nftId AND ${stateOfRow()} <> 'minted' RETURNING serial, token_id AS "tokenId"`,
    { nftId, part: newTokenPart().toString() },
  );
  return rows[0];
}

/** Inserts NFTs that are on the chain and have no row, as minted and with the next serials, and counts them. */
export async function insertLostNfts(tx: Tx, chainId: string, lost: readonly LostNft[]): Promise<void> {
  if (lost.length === 0) return;
  await tx.raw(
    `WITH w AS (
       SELECT f.*, l.rwa_id, l.cipher, l.key_id, row_number() OVER (PARTITION BY l.rwa_id ORDER BY f.block, f.token_id) AS step
       FROM ${mintValues} JOIN unnest(:ids::uuid[], :rwas::uuid[], :ciphers::bytea[], :keyIds::text[])
         AS l (id, rwa_id, cipher, key_id) ON l.id = f.id),
     made AS (
       UPDATE rwas r SET last_serial = last_serial + i.count, total_nfts = total_nfts + i.count,
         claimed_nfts = claimed_nfts + i.count
       FROM (SELECT rwa_id, count(*) FROM w GROUP BY rwa_id) i WHERE r.id = i.rwa_id
       RETURNING r.id, r.company_id, r.number, r.last_serial - i.count AS last)
     INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
       recipient, mint_chain_id, minted_at, minted_tx, minted_block, created_at)
     SELECT w.id, m.company_id, m.id, m.number, m.last + w.step, w.token_id, w.cipher, w.key_id, 'minted', w.recipient,
       :chainId, w.at, w.hash, w.block, w.at
     FROM w JOIN made m ON m.id = w.rwa_id`,
    {
      ...mintBindings(lost),
      chainId,
      rwas: lost.map(({ rwaId }) => rwaId),
      ciphers: lost.map(({ sealed }) => sealed.cipher),
      keyIds: lost.map(({ sealed }) => sealed.keyId),
    },
  );
}
