import { zeroAddress } from '../../chain/address.ts';
import type { Transfer } from '../../chain/minting/transfer-logs.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { rwaNumberOf } from '../assets/token-id.ts';
import { namedContracts } from '../minting/compare/named-contracts-sql.ts';
import type { LedgerBlock, LedgerGroup } from './ledger-group.ts';
import {
  type GoneTransfer,
  hasNewsSql,
  insertCorrections,
  insertTransferNews,
} from './transfer-news-store.ts';

/*
 * Table `nft_ledgers`: how far the transfers of a contract are read. Table `nft_transfers`: one row for each transfer.
 * The owner in `nfts` comes from the newest transfer, and changes in the same transaction.
 */

/** Another process has changed the ledgers since they were read. */
export class LedgerMovedError extends Error {}

/** Lists contracts that RWAs of a network name and that have no ledger yet. */
export async function listContractsWithoutLedger(db: Database, chainId: string): Promise<string[]> {
  const { rows }: { rows: { contract: string }[] } = await db.raw(
    `WITH RECURSIVE ${namedContracts}
     SELECT contract FROM named n WHERE contract IS NOT NULL
       AND NOT EXISTS (SELECT FROM nft_ledgers l WHERE l.chain_id = :chainId AND l.contract = n.contract)`,
    { chainId },
  );
  return rows.map(({ contract }) => contract);
}

/** Begins the ledger of a contract behind this block, which is before the first mint. */
export async function addLedger(
  db: Database,
  { chainId, contract }: { readonly chainId: string; readonly contract: string },
  { number, hash, time }: LedgerBlock,
): Promise<void> {
  await db.raw(
    `INSERT INTO nft_ledgers (chain_id, contract, first_block, number, hash, time)
     VALUES (:chainId, :contract, :number::numeric + 1, :number, :hash, :time) ON CONFLICT DO NOTHING`,
    { chainId, contract, number: number.toString(), hash, time },
  );
}

/** Lists the ledgers of a network, those at the same block together. */
export async function listLedgers(db: Database, chainId: string): Promise<LedgerGroup[]> {
  const { rows }: { rows: { number: string; hash: string; time: Date; contracts: string[] }[] } =
    await db.raw(
      `SELECT number, hash, time, array_agg(contract ORDER BY contract) AS contracts FROM nft_ledgers
     WHERE chain_id = ? GROUP BY number, hash, time ORDER BY number`,
      [chainId],
    );
  return rows.map(({ number, hash, time, contracts }) => ({
    chainId,
    contracts,
    at: { number: BigInt(number), hash, time },
  }));
}

/** A transfer and the time of its block. */
export type TimedTransfer = Transfer & { readonly time: Date };

/**
 * Stores what a part of the chain has, and that the ledgers are at its end.
 * @throws LedgerMovedError when the ledgers are no longer where the group says
 */
export function advanceLedgers(
  db: Database,
  group: LedgerGroup,
  to: LedgerBlock,
  transfers: readonly TimedTransfer[],
): Promise<void> {
  const ours = transfers.filter(({ tokenId }) => rwaNumberOf(tokenId) !== undefined);
  return inTransaction(db, async (tx) => {
    await moveLedgers(tx, group, to, 0);
    await insertTransfers(tx, group.chainId, ours);
    await setOwnersOf(tx, group, ours);
    await insertTransferNews(tx, group, to.number);
  });
}

/**
 * Takes back what ledgers have read above a block.
 * @throws LedgerMovedError when the ledgers are no longer where the group says
 */
export function rollBackLedgers(db: Database, group: LedgerGroup, to: LedgerBlock): Promise<void> {
  const { chainId, contracts } = group;
  return inTransaction(db, async (tx) => {
    await moveLedgers(tx, group, to, 1);
    const { rows: gone }: { rows: (GoneTransfer & { readonly hasNews: boolean })[] } = await tx.raw(
      `WITH gone AS (
         DELETE FROM nft_transfers
         WHERE chain_id = :chainId AND contract = ANY (:contracts::text[]) AND block_number > :number::numeric
         RETURNING *)
       SELECT contract, token_id AS "tokenId", transaction_hash AS transaction, ${hasNewsSql('t')} AS "hasNews" FROM gone t
       ORDER BY block_number DESC, log_index DESC`,
      { chainId, contracts: [...contracts], number: to.number.toString() },
    );
    await setOwnersOf(tx, group, gone);
    await insertCorrections(
      tx,
      chainId,
      gone.filter(({ hasNews }) => hasNews),
    );
  });
}

async function moveLedgers(
  tx: Tx,
  { chainId, contracts, at }: LedgerGroup,
  to: LedgerBlock,
  rollBacks: 0 | 1,
): Promise<void> {
  const { rowCount }: { rowCount: number } = await tx.raw(
    `UPDATE nft_ledgers SET number = :number, hash = :hash, time = :time, roll_backs = roll_backs + :rollBacks
     WHERE chain_id = :chainId AND contract = ANY (:contracts::text[]) AND number = :wasNumber AND hash = :wasHash`,
    {
      chainId,
      contracts: [...contracts],
      number: to.number.toString(),
      hash: to.hash,
      time: to.time,
      rollBacks,
      wasNumber: at.number.toString(),
      wasHash: at.hash,
    },
  );
  if (rowCount !== contracts.length)
    throw new LedgerMovedError(`Ledgers of network ${chainId} moved meanwhile.`);
}

/** Stores that the ledgers of a network have read the newest confirmed block. */
export async function noteCaughtUp(db: Database, { chainId, contracts }: LedgerGroup): Promise<void> {
  await db.raw(
    `UPDATE nft_ledgers SET caught_up_at = clock_timestamp()
     WHERE chain_id = :chainId AND contract = ANY (:contracts::text[])`,
    { chainId, contracts: [...contracts] },
  );
}

async function insertTransfers(tx: Tx, chainId: string, transfers: readonly TimedTransfer[]): Promise<void> {
  if (transfers.length === 0) return;
  const all = <T>(of: (transfer: TimedTransfer) => T) => transfers.map(of);
  await tx.raw(
    `INSERT INTO nft_transfers (chain_id, contract, token_id, block_number, log_index, from_address, to_address, block_hash,
       block_time, transaction_hash)
     SELECT :chainId, * FROM unnest(:contracts::text[], :tokens::numeric[], :blocks::numeric[], :indexes::bigint[],
       :froms::text[], :tos::text[], :hashes::text[], :times::timestamptz[], :transactions::text[])`,
    {
      chainId,
      contracts: all(({ contract }) => contract),
      tokens: all(({ tokenId }) => tokenId),
      blocks: all(({ blockNumber }) => blockNumber.toString()),
      indexes: all(({ logIndex }) => logIndex.toString()),
      froms: all(({ from }) => from),
      tos: all(({ to }) => to),
      hashes: all(({ blockHash }) => blockHash),
      times: all(({ time }) => time),
      transactions: all(({ transactionHash }) => transactionHash),
    },
  );
}

/** Sets the owners of the NFTs of these transfers. */
async function setOwnersOf(
  tx: Tx,
  { chainId, contracts }: LedgerGroup,
  transfers: readonly { readonly contract: string; readonly tokenId: string }[],
): Promise<void> {
  for (const contract of contracts) {
    const tokens = transfers
      .filter((transfer) => transfer.contract === contract)
      .map(({ tokenId }) => tokenId);
    await setOwners(tx, { chainId, contract }, tokens);
  }
}

/** Sets the owners of NFTs that came to be after the transfers of their tokens were read. */
export async function refreshOwners(
  tx: Tx,
  contract: { readonly chainId: string; readonly contract: string },
  tokenIds: readonly string[],
): Promise<void> {
  // What another transaction has just read of the contract is committed then.
  await tx.raw(
    'SELECT FROM nft_ledgers WHERE chain_id = :chainId AND contract = :contract FOR SHARE',
    contract,
  );
  await setOwners(tx, contract, tokenIds);
}

/** Sets the owners of these tokens' NFTs to what the newest transfers say; null without a transfer. */
async function setOwners(
  tx: Tx,
  { chainId, contract }: { readonly chainId: string; readonly contract: string },
  tokenIds: readonly string[],
): Promise<void> {
  const tokens = [...new Set(tokenIds)].flatMap((tokenId) => {
    const number = rwaNumberOf(tokenId);
    return number === undefined ? [] : [{ tokenId, number: number.toString() }];
  });
  if (tokens.length === 0) return;
  // In the order in which lanes lock NFTs, so that the two never wait for each other.
  await tx.raw(
    `WITH w AS (
       SELECT n.id, t.to_address, t.block_number, t.block_time, t.transaction_hash
       FROM unnest(:tokens::numeric[], :numbers::bigint[]) AS w (token_id, number)
       JOIN rwas r ON r.number = w.number AND r.chain_id = :chainId AND r.contract_address = :contract
       JOIN nfts n ON n.rwa_id = r.id AND n.token_id = w.token_id
       LEFT JOIN LATERAL (
         SELECT * FROM nft_transfers t WHERE t.chain_id = :chainId AND t.contract = :contract AND t.token_id = w.token_id
         ORDER BY t.block_number DESC, t.log_index DESC LIMIT 1) t ON true),
     locked AS (SELECT id FROM nfts WHERE id IN (SELECT id FROM w) ORDER BY id FOR NO KEY UPDATE)
     UPDATE nfts n SET owner = nullif(w.to_address, '${zeroAddress}'),
       owner_block = w.block_number, owner_at = w.block_time, owner_tx = w.transaction_hash
     FROM w JOIN locked USING (id) WHERE n.id = w.id`,
    {
      chainId,
      contract,
      tokens: tokens.map(({ tokenId }) => tokenId),
      numbers: tokens.map(({ number }) => number),
    },
  );
}

/** Finds a block in which a group's ledgers have transfers, after so many newer blocks; undefined without such a block. */
export async function findTransferBlock(
  db: Database,
  { chainId, contracts, at }: LedgerGroup,
  offset: number,
): Promise<LedgerBlock | undefined> {
  const { rows }: { rows: { number: string; hash: string; time: Date }[] } = await db.raw(
    `SELECT DISTINCT block_number AS number, block_hash AS hash, block_time AS time FROM nft_transfers
     WHERE chain_id = :chainId AND contract = ANY (:contracts::text[]) AND block_number < :number
     ORDER BY block_number DESC OFFSET :offset LIMIT 1`,
    { chainId, contracts: [...contracts], number: at.number.toString(), offset },
  );
  const [row] = rows;
  return row && { ...row, number: BigInt(row.number) };
}

/** Finds the block before the first that the ledgers of a group have read: the earliest of them. */
export async function findFirstBlock(db: Database, { chainId, contracts }: LedgerGroup): Promise<bigint> {
  const { rows }: { rows: { first: string }[] } = await db.raw(
    'SELECT min(first_block)::text AS first FROM nft_ledgers WHERE chain_id = ? AND contract = ANY (?::text[])',
    [chainId, [...contracts]],
  );
  return BigInt(rows[0]?.first ?? '0');
}

/** Lists for each network how long ago the ledger that is furthest behind had read the newest confirmed block. */
export async function listDelays(db: Database): Promise<{ chainId: string; seconds: number }[]> {
  const { rows } = await db.raw(
    `SELECT chain_id AS "chainId", extract(epoch FROM clock_timestamp() - min(caught_up_at))::float8 AS seconds
     FROM nft_ledgers GROUP BY chain_id`,
  );
  return rows;
}
