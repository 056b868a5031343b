import type { MintEvent } from '../../chain/minting/mint-history.ts';
import type { Tx } from '../../contract/transaction.ts';
import type { SealedSecret } from '../assets/claim-secret.ts';
import { stateOfRow } from '../assets/mint-state-sql.ts';
import { tokenIdSql, tokenPartsOf } from '../assets/token-id.ts';
import type { ContractId } from './compare/token-row-store.ts';

/*
 * Rebuilds rows from the chain, after the database was restored from an older backup: the only changes of mint states,
 * serials and counters beside `mint-state-store.ts` and `assets/nft-creation-store.ts`. The rows of the NFTs and RWAs
 * are locked before ({@link lockTokens}).
 */

/** A mint of the chain, and the time of its block. */
type Found = { readonly event: MintEvent; readonly time: Date };

/** A mint whose NFT is known. */
export type FoundNft = Found & { readonly nftId: string };

/** A mint whose NFT is lost; its secret is new. */
export type LostNft = Found & {
  readonly nftId: string;
  readonly companyId: string;
  readonly rwaId: string;
  readonly sealed: SealedSecret;
};

// The same order as everywhere: NFTs by id, then RWAs by id, so that no two transactions deadlock.
export async function lockTokens(
  tx: Tx,
  { chainId, contract }: ContractId,
  tokenIds: readonly string[],
): Promise<void> {
  const parts = tokenIds.flatMap((tokenId) => tokenPartsOf(tokenId) ?? []);
  const bindings = {
    chainId,
    contract,
    numbers: parts.map(({ rwaNumber }) => rwaNumber.toString()),
    serials: parts.map(({ serial }) => serial.toString()),
  };
  await tx.raw(
    `SELECT FROM nfts WHERE id IN (
       SELECT n.id FROM unnest(:numbers::bigint[], :serials::bigint[]) AS w (number, serial)
       JOIN rwas r ON r.number = w.number AND r.chain_id = :chainId AND r.contract_address = :contract
       JOIN nfts n ON n.rwa_id = r.id AND n.serial = w.serial) ORDER BY id FOR NO KEY UPDATE`,
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
  recipients: found.map(({ event }) => event.recipient),
  times: found.map(({ time }) => time),
  hashes: found.map(({ event }) => event.hash),
  blocks: found.map(({ event }) => event.blockNumber.toString()),
});
const mintValues =
  'unnest(:ids::uuid[], :recipients::text[], :times::timestamptz[], :hashes::text[], :blocks::numeric[]) AS f (id, recipient, at, hash, block)';

/** Marks NFTs as minted that are not, whatever their state is; a transaction in flight has nothing to do for them. */
export async function mintFoundNfts(tx: Tx, chainId: string, found: readonly FoundNft[]): Promise<void> {
  if (found.length === 0) return;
  await tx.raw(
    `WITH closed AS (
       UPDATE mint_transaction_nfts SET state = 'minted' WHERE state = 'open' AND nft_id = ANY (:ids::uuid[])),
     minted AS (
       UPDATE nfts n SET mint_state = 'minted', recipient = f.recipient, minted_at = f.at, minted_tx = f.hash,
         minted_block = f.block, mint_error = NULL, mint_chain_id = coalesce(n.mint_chain_id, :chainId)
       FROM ${mintValues} WHERE n.id = f.id AND ${stateOfRow('n')} <> 'minted' RETURNING n.rwa_id)
     UPDATE rwas r SET claimed_nfts = claimed_nfts + m.count
     FROM (SELECT rwa_id, count(*) FROM minted GROUP BY rwa_id) m WHERE r.id = m.rwa_id`,
    { ...mintBindings(found), chainId },
  );
}

/** Sets transaction, block and time of minted NFTs to those of the chain. */
export async function correctMintedNfts(tx: Tx, found: readonly FoundNft[]): Promise<void> {
  if (found.length === 0) return;
  await tx.raw(
    `UPDATE nfts n SET minted_at = f.at, minted_tx = f.hash, minted_block = f.block
     FROM ${mintValues} WHERE n.id = f.id AND ${stateOfRow('n')} = 'minted'`,
    mintBindings(found),
  );
}

/** Fails NFTs that are under way, and whose tokens others have. */
export async function failTakenNfts(
  tx: Tx,
  taken: readonly { readonly nftId: string; readonly reason: string }[],
): Promise<void> {
  if (taken.length === 0) return;
  const bindings = { ids: taken.map(({ nftId }) => nftId), reasons: taken.map(({ reason }) => reason) };
  await tx.raw(
    `WITH closed AS (
       UPDATE mint_transaction_nfts SET state = 'failed' WHERE state = 'open' AND nft_id = ANY (:ids::uuid[]))
     UPDATE nfts n SET mint_state = 'failed', mint_error = f.reason
     FROM unnest(:ids::uuid[], :reasons::text[]) AS f (id, reason)
     WHERE n.id = f.id AND ${stateOfRow('n')} IN ('queued', 'submitted')`,
    bindings,
  );
}

/**
 * Gives NFTs whose serials were given before the next serials of their RWAs, which must be above every serial of the
 * chain. Those that are submitted or minted are queued again: neither can the contract mint the old token a second time,
 * nor is it theirs.
 */
export async function renumberNfts(tx: Tx, nftIds: readonly string[]): Promise<void> {
  if (nftIds.length === 0) return;
  await tx.raw(
    `WITH w AS (
       SELECT id, rwa_id, mint_state, row_number() OVER (PARTITION BY rwa_id ORDER BY serial) AS step
       FROM nfts WHERE id = ANY (:ids::uuid[])),
     released AS (
       UPDATE mint_transaction_nfts SET state = 'released' WHERE state = 'open' AND nft_id = ANY (:ids::uuid[])),
     taken AS (
       UPDATE rwas r SET last_serial = last_serial + c.count, claimed_nfts = claimed_nfts - c.minted
       FROM (SELECT rwa_id, count(*), count(*) FILTER (WHERE mint_state = 'minted') AS minted FROM w
             GROUP BY rwa_id) c
       WHERE r.id = c.rwa_id RETURNING r.id, r.number, r.last_serial - c.count AS last)
     UPDATE nfts n SET serial = t.last + w.step, token_id = ${tokenIdSql('t.number', '(t.last + w.step)')},
       mint_state = CASE WHEN n.mint_state IN ('submitted', 'minted') THEN 'queued' ELSE n.mint_state END,
       minted_at = NULL, minted_tx = NULL, minted_block = NULL
     FROM w JOIN taken t ON t.id = w.rwa_id WHERE n.id = w.id`,
    { ids: [...nftIds] },
  );
}

/** Inserts NFTs that are on the chain and have no row, as minted, and counts them. */
export async function insertLostNfts(tx: Tx, chainId: string, lost: readonly LostNft[]): Promise<void> {
  if (lost.length === 0) return;
  await tx.raw(
    `WITH inserted AS (
       INSERT INTO nfts (id, company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
         recipient, mint_chain_id, minted_at, minted_tx, minted_block, created_at)
       SELECT f.id, l.company_id, l.rwa_id, l.number, l.serial, ${tokenIdSql('l.number', 'l.serial')}, l.cipher,
         l.key_id, 'minted', f.recipient, :chainId, f.at, f.hash, f.block, f.at
       FROM ${mintValues} JOIN unnest(:ids::uuid[], :companies::text[], :rwas::uuid[], :numbers::bigint[],
         :serials::bigint[], :ciphers::bytea[], :keyIds::text[])
         AS l (id, company_id, rwa_id, number, serial, cipher, key_id) ON l.id = f.id
       RETURNING rwa_id)
     UPDATE rwas r SET total_nfts = total_nfts + i.count, claimed_nfts = claimed_nfts + i.count
     FROM (SELECT rwa_id, count(*) FROM inserted GROUP BY rwa_id) i WHERE r.id = i.rwa_id`,
    {
      ...mintBindings(lost),
      chainId,
      companies: lost.map(({ companyId }) => companyId),
      rwas: lost.map(({ rwaId }) => rwaId),
      numbers: lost.map(({ event }) => tokenPartsOf(event.tokenId)?.rwaNumber.toString() ?? null),
      serials: lost.map(({ event }) => tokenPartsOf(event.tokenId)?.serial.toString() ?? null),
      ciphers: lost.map(({ sealed }) => sealed.cipher),
      keyIds: lost.map(({ sealed }) => sealed.keyId),
    },
  );
}

/** A leap beyond it is no lost past, but an id that somebody chose to use up all serials. */
export const farthest = 1_000_000_000;

/** Raises the last serials of RWAs to those of these tokens, so that none is given again. @returns how many RWAs */
export async function raiseSerials(
  tx: Tx,
  { chainId, contract }: ContractId,
  tokenIds: readonly string[],
): Promise<number> {
  const parts = tokenIds.flatMap((tokenId) => tokenPartsOf(tokenId) ?? []);
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE rwas r SET last_serial = m.serial FROM (
       SELECT r.id, max(w.serial) AS serial FROM unnest(:numbers::bigint[], :serials::bigint[]) AS w (number, serial)
       JOIN rwas r ON r.number = w.number AND r.chain_id = :chainId AND r.contract_address = :contract
       WHERE w.serial > r.last_serial AND w.serial - r.last_serial < ${farthest} GROUP BY r.id) m
     WHERE r.id = m.id AND r.last_serial < m.serial`,
    {
      chainId,
      contract,
      numbers: parts.map(({ rwaNumber }) => rwaNumber.toString()),
      serials: parts.map(({ serial }) => serial.toString()),
    },
  );
  return rowCount;
}

/** Raises the next number of an RWA above these, so that no new RWA gets the tokens of a lost one. */
export async function raiseRwaNumbers(tx: Tx, numbers: readonly bigint[]): Promise<void> {
  if (numbers.length === 0) return;
  // Of a sequence that the user may not read, its last value is null: it must not be set back for that.
  await tx.raw(
    `SELECT setval(s.name::regclass, w.number) FROM (
       SELECT name, greatest(pg_sequence_last_value(name::regclass), (SELECT max(number) FROM rwas), 0) AS last
       FROM (SELECT pg_get_serial_sequence('rwas', 'number') AS name) q) s,
       LATERAL (SELECT max(number) AS number FROM unnest(?::bigint[]) AS number WHERE number < s.last + ${farthest}) w
     WHERE w.number > s.last`,
    [numbers.map(String)],
  );
}
