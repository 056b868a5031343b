import type { Fees } from '../../chain/minting/fees.ts';
import type { Mint } from '../../chain/minting/mint-contract.ts';
import type { Signed } from '../../chain/minting/signer.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import type { LaneId, Lease } from './lane-store.ts';

/** One sending of a transaction: the first, or one with higher fees. */
type Attempt = {
  readonly number: number;
  readonly hash: string;
  readonly fees: Fees;
  /** The newest block when it was signed. */
  readonly sentAtBlock: bigint;
};

/** A transaction whose end is not final yet. */
export type OpenTransaction = {
  readonly id: string;
  readonly nonce: bigint;
  readonly contract: string;
  readonly gasLimit: bigint;
  /** Where it was mined, once it was deep enough; null before. */
  readonly confirmedIn: Place | null;
  /** Where earlier mints are that some of its NFTs were passed over for. */
  readonly foundIn: readonly Place[];
  /** The newest first; never empty. */
  readonly attempts: readonly [Attempt, ...Attempt[]];
};

/** An NFT in a transaction. */
export type Item = Mint & {
  readonly nftId: string;
  /** It counts as minted already. */
  readonly isMinted: boolean;
};

/** A block that the state of a transaction rests on. */
type Place = { readonly number: bigint; readonly hash: string };

/** An NFT that waits to be sent. */
export type Waiting = Mint & { readonly nftId: string };
export type NextWaiting = Waiting & { readonly contract: string };

export type NewTransaction = {
  readonly nonce: bigint;
  readonly contract: string;
  readonly gasLimit: bigint;
  readonly fees: Fees;
  readonly signed: Signed;
  readonly items: readonly Waiting[];
  readonly sentAtBlock: bigint;
};

type OpenRow = {
  id: string;
  nonce: string;
  contract: string;
  gas_limit: string;
  state: 'submitted' | 'confirmed';
  block_number: string | null;
  block_hash: string | null;
  found: { number: string; hash: string }[] | null;
  attempts: {
    number: number;
    hash: string;
    max_fee: string;
    max_priority_fee: string | null;
    sent_at_block: string;
  }[];
};

/** The transactions of a lane that can still change, in the order of their nonces. */
export async function openTransactions(db: Database, lane: LaneId): Promise<OpenTransaction[]> {
  const { rows }: { rows: OpenRow[] } = await db.raw(
    `SELECT t.id, t.nonce, t.contract, t.gas_limit, t.state, t.block_number, t.block_hash, a.attempts, f.found
     FROM mint_transactions t CROSS JOIN LATERAL (
       SELECT json_agg(json_build_object('number', number, 'hash', hash, 'max_fee', max_fee_per_gas::text,
         'max_priority_fee', max_priority_fee_per_gas::text, 'sent_at_block', sent_at_block::text)
         ORDER BY number DESC) AS attempts FROM mint_attempts WHERE transaction_id = t.id) a
     CROSS JOIN LATERAL (
       SELECT json_agg(json_build_object('number', found_block::text, 'hash', found_block_hash)) AS found
       FROM mint_transaction_nfts
       WHERE t.state = 'confirmed' AND transaction_id = t.id AND found_block IS NOT NULL) f
     WHERE t.chain_id = :chainId AND t.signer = :signer AND t.state IN ('submitted', 'confirmed')
     ORDER BY t.nonce`,
    lane,
  );
  return rows.map(toOpen);
}

function toOpen(row: OpenRow): OpenTransaction {
  const [newest, ...older] = row.attempts.map((attempt) => ({
    number: attempt.number,
    hash: attempt.hash,
    fees: {
      maxFeePerGas: BigInt(attempt.max_fee),
      maxPriorityFeePerGas: attempt.max_priority_fee === null ? null : BigInt(attempt.max_priority_fee),
    },
    sentAtBlock: BigInt(attempt.sent_at_block),
  }));
  if (newest === undefined) throw new Error(`Mint transaction ${row.id} has no attempt.`);
  return {
    id: row.id,
    nonce: BigInt(row.nonce),
    contract: row.contract,
    gasLimit: BigInt(row.gas_limit),
    confirmedIn:
      row.block_number === null || row.block_hash === null
        ? null
        : { number: BigInt(row.block_number), hash: row.block_hash },
    foundIn: (row.found ?? []).map(({ number, hash }) => ({ number: BigInt(number), hash })),
    attempts: [newest, ...older],
  };
}

/** The signed bytes of an attempt, as hex. */
export async function rawOf(db: Database, hash: string): Promise<string> {
  const row: { raw: Buffer } | undefined = await db('mint_attempts').where({ hash }).first('raw');
  if (row === undefined) throw new Error(`No attempt has the hash ${hash}.`);
  return `0x${row.raw.toString('hex')}`;
}

/** The highest nonce that the lane ever stored; undefined when it stored none. */
export async function highestNonce(db: Database | Tx, lane: LaneId): Promise<bigint | undefined> {
  const row: { nonce: string } | undefined = await db('mint_transactions')
    .where({ chain_id: lane.chainId, signer: lane.signer })
    .orderBy('nonce', 'desc')
    .first('nonce');
  return row && BigInt(row.nonce);
}

/** The NFTs of a transaction whose end is not final. */
export async function openItems(db: Database, transactionId: string): Promise<Item[]> {
  const rows: { nft_id: string; token_id: string; recipient: string; mint_state: string }[] = await db(
    'mint_transaction_nfts as l',
  )
    .join('nfts as n', 'n.id', 'l.nft_id')
    .select('l.nft_id', 'l.token_id', 'l.recipient', 'n.mint_state')
    .where({ 'l.transaction_id': transactionId, 'l.state': 'open' });
  return rows.map((row) => ({
    nftId: row.nft_id,
    tokenId: row.token_id,
    recipient: row.recipient,
    isMinted: row.mint_state === 'minted',
  }));
}

type Except = { readonly contracts: readonly string[]; readonly nfts: readonly string[] };

/** The NFT that has waited longest on the network, but for these and those of these contracts. */
export async function nextWaiting(
  db: Database,
  chainId: string,
  { contracts, nfts }: Except,
): Promise<NextWaiting | undefined> {
  const { rows }: { rows: NextWaiting[] } = await db.raw(
    `SELECT n.id AS "nftId", r.contract_address AS contract, n.recipient, n.token_id AS "tokenId"
     FROM nfts n JOIN rwas r ON r.id = n.rwa_id
     WHERE n.mint_chain_id = :chainId AND n.mint_state = 'queued'
       AND r.contract_address <> ALL (:contracts::text[]) AND n.id <> ALL (:nfts::uuid[])
     ORDER BY n.queued_at, n.id LIMIT 1`,
    { chainId, contracts: [...contracts], nfts: [...nfts] },
  );
  return rows[0];
}

/**
 * A few whom the contract may well mint to: the last whom it minted to, and some of those who wait for it, others
 * each time.
 */
export async function otherRecipients(
  db: Database,
  chainId: string,
  { contract, recipient }: NextWaiting,
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

/** Whether the lane has anything to look after, and anything to send. */
export async function workOf(db: Database, lane: LaneId): Promise<{ isOpen: boolean; isWaiting: boolean }> {
  const { rows } = await db.raw(
    `SELECT EXISTS (SELECT 1 FROM mint_transactions WHERE chain_id = :chainId AND signer = :signer
         AND state IN ('submitted', 'confirmed')) AS is_open,
       EXISTS (SELECT 1 FROM nfts WHERE mint_chain_id = :chainId AND mint_state = 'queued') AS is_waiting`,
    lane,
  );
  const [row]: { is_open: boolean; is_waiting: boolean }[] = rows;
  return { isOpen: row?.is_open === true, isWaiting: row?.is_waiting === true };
}

type Wanted = {
  readonly chainId: string;
  readonly contract: string;
  readonly aside: readonly string[];
  readonly limit: number;
};

/** Takes NFTs that wait for one contract; their rows stay locked until the transaction ends. */
export async function takeWaiting(tx: Tx, { chainId, contract, aside, limit }: Wanted): Promise<Waiting[]> {
  const { rows } = await tx.raw(
    `SELECT n.id, n.token_id, n.recipient FROM nfts n JOIN rwas r ON r.id = n.rwa_id
     WHERE n.mint_chain_id = :chainId AND n.mint_state = 'queued' AND r.contract_address = :contract
       AND n.id <> ALL (:aside::uuid[])
     ORDER BY n.queued_at, n.id LIMIT :limit FOR NO KEY UPDATE OF n SKIP LOCKED`,
    { chainId, contract, aside: [...aside], limit },
  );
  return rows.map((row: { id: string; token_id: string; recipient: string }) => ({
    nftId: row.id,
    tokenId: row.token_id,
    recipient: row.recipient,
  }));
}

/** Stores a transaction with its first attempt and its NFTs, before anything is sent. @returns its id */
export async function insertTransaction(tx: Tx, lease: Lease, made: NewTransaction): Promise<string> {
  const [row]: { id: string }[] = await tx('mint_transactions')
    .insert({
      chain_id: lease.chainId,
      signer: lease.signer,
      nonce: made.nonce.toString(),
      contract: made.contract,
      gas_limit: made.gasLimit.toString(),
      fence: lease.fence,
    })
    .returning('id');
  if (row === undefined) throw new Error('The transaction was not stored.');
  await insertAttempt(tx, lease, { transactionId: row.id, number: 1, ...made });
  await tx.raw(
    `INSERT INTO mint_transaction_nfts (transaction_id, nft_id, token_id, recipient)
     SELECT ?, * FROM unnest(?::uuid[], ?::numeric[], ?::text[])`,
    [
      row.id,
      made.items.map(({ nftId }) => nftId),
      made.items.map(({ tokenId }) => tokenId),
      made.items.map(({ recipient }) => recipient),
    ],
  );
  return row.id;
}

/** Stores an attempt, before it is sent. */
export async function insertAttempt(
  tx: Tx,
  { fence }: Lease,
  attempt: Pick<NewTransaction, 'signed' | 'fees' | 'sentAtBlock'> & {
    transactionId: string;
    number: number;
  },
): Promise<void> {
  await tx('mint_attempts').insert({
    transaction_id: attempt.transactionId,
    number: attempt.number,
    hash: attempt.signed.hash,
    raw: Buffer.from(attempt.signed.raw.slice(2), 'hex'),
    max_fee_per_gas: attempt.fees.maxFeePerGas.toString(),
    max_priority_fee_per_gas: attempt.fees.maxPriorityFeePerGas?.toString() ?? null,
    sent_at_block: attempt.sentAtBlock.toString(),
    fence,
  });
}

const fewAtOnce = 1_000;

/** NFTs that have waited for this long: their jobs may be gone. The longest waiting first. */
export async function forgottenNfts(db: Database, seconds: number): Promise<string[]> {
  const rows: { id: string }[] = await db('nfts')
    .select('id')
    .where('mint_state', 'queued')
    .whereRaw('queued_at < clock_timestamp() - make_interval(secs => ?)', [seconds])
    .orderBy('queued_at')
    .limit(fewAtOnce);
  return rows.map(({ id }) => id);
}
