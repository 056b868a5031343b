import type { Mint } from '../../../chain/minting/mint-contract.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';

/*
 * The queue of NFTs to send: rows of `nfts` in mint state `queued`. This store only reads and locks them;
 * every change of the state is in `minting/mint-state-store.ts`.
 */

/** An NFT that waits to be sent. */
export type QueuedMint = Mint & { readonly nftId: string };

/** The same, with the contract of its RWA in EIP-55. */
export type NextMint = QueuedMint & { readonly contract: string };

type Excluded = { readonly contracts: readonly string[]; readonly nftIds: readonly string[] };

/**
 * Finds the NFT that has been queued longest on the network.
 * @param excluded contracts and NFTs to skip
 */
export async function findNextMint(
  db: Database,
  chainId: string,
  { contracts, nftIds }: Excluded,
): Promise<NextMint | undefined> {
  const { rows }: { rows: NextMint[] } = await db.raw(
    `SELECT n.id AS "nftId", r.contract_address AS contract, n.recipient, n.token_id AS "tokenId"
     FROM nfts n JOIN rwas r ON r.id = n.rwa_id
     WHERE n.mint_chain_id = :chainId AND n.mint_state = 'queued'
       AND r.contract_address <> ALL (:contracts::text[]) AND n.id <> ALL (:nftIds::uuid[])
     ORDER BY n.queued_at, n.id LIMIT 1`,
    { chainId, contracts: [...contracts], nftIds: [...nftIds] },
  );
  return rows[0];
}

type Wanted = {
  readonly chainId: string;
  readonly contract: string;
  /** NFTs to skip. */
  readonly excludedNftIds: readonly string[];
  readonly limit: number;
};

/** Lists the NFTs that have been queued longest for one contract. */
export async function listQueuedMints(
  db: Database,
  { chainId, contract, excludedNftIds, limit }: Wanted,
): Promise<QueuedMint[]> {
  const { rows }: { rows: QueuedMint[] } = await db.raw(
    `SELECT n.id AS "nftId", n.token_id AS "tokenId", n.recipient FROM nfts n JOIN rwas r ON r.id = n.rwa_id
     WHERE n.mint_chain_id = :chainId AND n.mint_state = 'queued' AND r.contract_address = :contract
       AND n.id <> ALL (:excludedNftIds::uuid[])
     ORDER BY n.queued_at, n.id LIMIT :limit`,
    { chainId, contract, excludedNftIds: [...excludedNftIds], limit },
  );
  return rows;
}

/**
 * Locks those of the NFTs that are queued still and for the same recipient, until the transaction ends. Skips those
 * that another transaction has locked.
 */
export async function lockQueuedMints(tx: Tx, mints: readonly QueuedMint[]): Promise<QueuedMint[]> {
  const { rows }: { rows: { id: string }[] } = await tx.raw(
    `SELECT n.id FROM nfts n
     JOIN unnest(?::uuid[], ?::text[]) AS w (id, recipient) ON w.id = n.id AND w.recipient = n.recipient
     WHERE n.mint_state = 'queued' FOR NO KEY UPDATE OF n SKIP LOCKED`,
    [mints.map(({ nftId }) => nftId), mints.map(({ recipient }) => recipient)],
  );
  const locked = new Set(rows.map(({ id }) => id));
  return mints.filter(({ nftId }) => locked.has(nftId));
}

/** Whether any RWA of the network has the contract, or the network itself as that of new RWAs. */
export async function isMintContract(db: Database, chainId: string, contract: string): Promise<boolean> {
  const { rows } = await db.raw(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM rwas WHERE chain_id = :chainId AND lower(contract_address) = lower(:contract))
       OR EXISTS (SELECT 1 FROM networks WHERE chain_id = :chainId AND lower(minter_contract) = lower(:contract))`,
    { chainId, contract },
  );
  return rows.length > 0;
}

/**
 * Lists a few other recipients that the contract may well mint to: the one that it last minted to, and up to
 * three of those queued for it, chosen at random.
 */
export async function listOtherRecipients(
  db: Database,
  chainId: string,
  { contract, recipient }: NextMint,
): Promise<string[]> {
  const { rows }: { rows: { recipient: string }[] } = await db.raw(
    `(SELECT l.recipient FROM mint_transactions t JOIN mint_transaction_nfts l ON l.transaction_id = t.id
      WHERE t.chain_id = :chainId AND t.contract = :contract AND l.state = 'minted' AND l.recipient <> :recipient
      ORDER BY t.nonce DESC LIMIT 1)
     UNION
     (SELECT recipient FROM (
        SELECT DISTINCT recipient FROM (
          SELECT n.recipient FROM nfts n JOIN rwas r ON r.id = n.rwa_id
          WHERE n.mint_chain_id = :chainId AND n.mint_state = 'queued' AND r.contract_address = :contract
            AND n.recipient <> :recipient ORDER BY n.queued_at DESC LIMIT 1000) newest) waiting
      ORDER BY random() LIMIT 3)`,
    { chainId, contract, recipient },
  );
  return rows.map((row) => row.recipient);
}

const maxStale = 1_000;

/**
 * Lists the ids of NFTs that have been queued for at least these seconds, so that their jobs may be lost. The
 * longest queued first, at most 1,000.
 */
export async function listStaleQueuedNfts(db: Database, seconds: number): Promise<string[]> {
  const rows: { id: string }[] = await db('nfts')
    .select('id')
    .where('mint_state', 'queued')
    .whereRaw('queued_at < clock_timestamp() - make_interval(secs => ?)', [seconds])
    .orderBy('queued_at')
    .limit(maxStale);
  return rows.map(({ id }) => id);
}
