import type { Mint } from '../../../chain/minting/mint-contract.ts';
import type { Database, Tx } from '../../../contract/transaction.ts';
import { stateOfRow } from '../../assets/mint-state-sql.ts';

/*
 * The queue of NFTs to send: rows of `nfts` in mint state `queued`. This store only reads and locks them;
 * every change of the state is in `minting/mint-state-store.ts`.
 */

/*
 * SQL of the lines of the queue: what one company has queued for one contract. Only the index by lines can be read so: with
 * plain equality and the order of waiting the planner sometimes reads the whole queue by time instead, past all that waits
 * in other lines.
 */

/** The order in a line. */
const inLine = 'mint_contract, company_id, queued_at, id';

/** Whether an NFT is of the line. */
const isOfLine = (contract: string, companyId: string) => `
  ROW (mint_contract, company_id) >= ROW (${contract}, ${companyId})
  AND ROW (mint_contract, company_id) <= ROW (${contract}, ${companyId})`;

/** An NFT that waits to be sent. */
export type QueuedMint = Mint & { readonly nftId: string; readonly companyId: string };

/** The same, with the contract of its RWA in EIP-55. */
export type NextMint = QueuedMint & { readonly contract: string };

/** What one company has queued for one contract: a line, with the NFT that has been queued longest in it. */
export type QueuedLine = NextMint & {
  /** Whether its company may have another transaction in flight. */
  readonly hasRoom: boolean;
};

type LinesWanted = {
  readonly chainId: string;
  readonly signer: string;
  /** Contracts whose lines are skipped. */
  readonly excludedContracts: readonly string[];
  /** NFTs to skip; a line of nothing else is skipped too. */
  readonly excludedNftIds: readonly string[];
  /** Ids of the transactions in flight. */
  readonly inFlight: readonly string[];
  /** The most of them that have NFTs of one company. */
  readonly mostInFlight: number;
};

// Jumps from line to line in the index. A line reads a few entries of it, however many NFTs wait there.
const linesByTurn = `
  WITH RECURSIVE named (contract, company_id) AS (
    (SELECT mint_contract, company_id FROM nfts
     WHERE mint_chain_id = :chainId AND mint_state = 'queued'
     ORDER BY mint_contract, company_id LIMIT 1)
    UNION ALL
    SELECT further.* FROM named l CROSS JOIN LATERAL (
      SELECT mint_contract, company_id FROM nfts
      WHERE mint_chain_id = :chainId AND mint_state = 'queued'
        AND (mint_contract, company_id) > (l.contract, l.company_id)
      ORDER BY mint_contract, company_id LIMIT 1) further),
  lines AS (
    SELECT l.contract, l.company_id, oldest.*
    FROM named l CROSS JOIN LATERAL (
      SELECT id, recipient, token_id, queued_at FROM nfts
      WHERE mint_chain_id = :chainId AND mint_state = 'queued' AND ${isOfLine('l.contract', 'l.company_id')}
        AND id <> ALL (:nftIds::uuid[]) ORDER BY ${inLine} LIMIT 1) oldest
    WHERE l.contract <> ALL (:contracts::text[])),
  sent AS (
    SELECT c.id AS company_id, max(t.nonce) AS nonce, count(*) FILTER (WHERE t.id = ANY (:inFlight::uuid[])) AS in_flight
    FROM mint_transactions t CROSS JOIN unnest(t.company_ids) AS c (id)
    WHERE t.chain_id = :chainId AND t.signer = :signer AND t.state IN ('submitted', 'confirmed') GROUP BY c.id)
  SELECT l.contract, company_id AS "companyId", l.id AS "nftId", l.recipient, l.token_id AS "tokenId",
    coalesce(s.in_flight, 0) < :mostInFlight AS "hasRoom"
  FROM lines l LEFT JOIN sent s USING (company_id) ORDER BY s.nonce NULLS FIRST, l.queued_at`;

/**
 * Lists the lines of a network's queue in turn. The company comes first whose NFTs were sent longest ago, of what is not final
 * yet; then the NFT that has waited longest.
 */
export async function listLinesByTurn(
  db: Database,
  { excludedContracts, excludedNftIds, inFlight, ...wanted }: LinesWanted,
): Promise<QueuedLine[]> {
  const excluded = { contracts: [...excludedContracts], nftIds: [...excludedNftIds] };
  const { rows } = await db.raw(linesByTurn, { ...wanted, ...excluded, inFlight: [...inFlight] });
  return rows;
}

type Wanted = {
  readonly chainId: string;
  readonly contract: string;
  /** Whose NFTs, the first in turn first. */
  readonly companyIds: readonly string[];
  /** NFTs to skip. */
  readonly excludedNftIds: readonly string[];
  readonly limit: number;
};

/**
 * Lists the NFTs that have been queued longest for one contract: of each company its share of the limit, and what then
 * is left of it is for the first.
 */
export async function listQueuedMints(
  db: Database,
  { chainId, contract, companyIds, excludedNftIds, limit }: Wanted,
): Promise<QueuedMint[]> {
  const companies = companyIds.slice(0, limit);
  const { rows } = await db.raw(
    `SELECT q.id AS "nftId", q.token_id AS "tokenId", q.recipient, c.id AS "companyId"
     FROM unnest(:companies::text[]) WITH ORDINALITY AS c (id, turn) CROSS JOIN LATERAL (
       SELECT id, token_id, recipient, row_number() OVER (ORDER BY ${inLine}) AS place FROM nfts
       WHERE mint_chain_id = :chainId AND mint_state = 'queued' AND ${isOfLine(':contract', 'c.id')}
         AND id <> ALL (:excludedNftIds::uuid[])
       ORDER BY ${inLine} LIMIT CASE WHEN c.turn = 1 THEN :limit::int ELSE :share::int END) q
     ORDER BY q.place > :share, q.place, c.turn LIMIT :limit`,
    {
      chainId,
      contract,
      companies,
      limit,
      excludedNftIds: [...excludedNftIds],
      share: Math.floor(limit / companies.length),
    },
  );
  return rows;
}

/**
 * Locks NFTs until the transaction ends, and waits for no other transaction.
 * @returns the ids of those that another transaction has locked, or that are no longer queued as this token for this recipient
 */
export async function lockQueuedMints(tx: Tx, mints: readonly QueuedMint[]): Promise<string[]> {
  const { rows }: { rows: { id: string }[] } = await tx.raw(
    `SELECT n.id FROM nfts n
     JOIN unnest(?::uuid[], ?::text[], ?::numeric[]) AS w (id, recipient, token_id)
       ON w.id = n.id AND w.recipient = n.recipient AND w.token_id = n.token_id
     WHERE ${stateOfRow('n')} = 'queued' FOR NO KEY UPDATE OF n SKIP LOCKED`,
    [
      mints.map(({ nftId }) => nftId),
      mints.map(({ recipient }) => recipient),
      mints.map(({ tokenId }) => tokenId),
    ],
  );
  const locked = new Set(rows.map(({ id }) => id));
  return mints.flatMap(({ nftId }) => (locked.has(nftId) ? [] : [nftId]));
}

/**
 * Whether any RWA of the network has the contract, or the network itself as that of new RWAs.
 * @param contract EIP-55, the form in which RWAs have it, but for one that a hand has made
 */
export async function isMintContract(db: Database, chainId: string, contract: string): Promise<boolean> {
  const { rows } = await db.raw(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM rwas WHERE chain_id = :chainId AND contract_address IN (:contract, lower(:contract)))
       OR EXISTS (SELECT 1 FROM networks WHERE chain_id = :chainId AND lower(minter_contract) = lower(:contract))`,
    { chainId, contract },
  );
  return rows.length > 0;
}

// The most rows that are read, however many NFTs are queued or were minted to one recipient.
const mostTransactions = 200;
const mostQueued = 1_000;

/**
 * Lists a few other recipients that the contract may well mint to: the one that it was last sent a mint to, and
 * up to three of those queued for it, chosen at random of the first and the last that are.
 */
export async function listOtherRecipients(
  db: Database,
  chainId: string,
  { contract, recipient }: NextMint,
): Promise<string[]> {
  const queued = `SELECT recipient FROM nfts
    WHERE mint_chain_id = :chainId AND mint_state = 'queued' AND mint_contract = :contract`;
  const { rows }: { rows: { recipient: string }[] } = await db.raw(
    `(SELECT l.recipient FROM mint_lanes w CROSS JOIN LATERAL (
        SELECT id, created_at FROM mint_transactions
        WHERE chain_id = :chainId AND signer = w.signer AND contract = :contract
        ORDER BY nonce DESC LIMIT ${mostTransactions}) t
      JOIN mint_transaction_nfts l ON l.transaction_id = t.id
      WHERE w.chain_id = :chainId AND l.state IN ('minted', 'open') AND l.recipient <> :recipient
      ORDER BY t.created_at DESC LIMIT 1)
     UNION
     (SELECT recipient FROM (
        (${queued} ORDER BY company_id, queued_at, id LIMIT ${mostQueued})
        UNION
        (${queued} ORDER BY company_id DESC, queued_at DESC, id DESC LIMIT ${mostQueued})) waiting
      WHERE recipient <> :recipient ORDER BY random() LIMIT 3)`,
    { chainId, contract, recipient },
  );
  return rows.map((row) => row.recipient);
}
