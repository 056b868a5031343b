import type { IndexedBlock } from '../../decode/domain.ts';
import { type BulkColumns, bytes } from './bulk-store.ts';
import { checkRows } from './check-rows.ts';
import type { WrittenBlock } from './history-rows.ts';
import { ledgerRows, sumOfSums } from './ledger-rows.ts';
import { nftChanges, sumChanges } from './nft-changes.ts';
import { columnsOf, timeOf } from './row-columns.ts';

/** The rows of a batch of blocks, by table, as columns; without those of {@link WrittenBlock}. */
export type BlockRows = {
  readonly nft_changes: BulkColumns;
  readonly nft_holdings: BulkColumns;
  readonly token_contracts: BulkColumns;
  readonly nft_tokens: BulkColumns;
  readonly index_blocks: BulkColumns;
  readonly index_skipped_logs: BulkColumns;
  readonly nft_refreshes: BulkColumns;
  readonly block_credits: BulkColumns;
  readonly native_sums: BulkColumns;
  readonly approval_changes: BulkColumns;
  readonly wallet_approvals: BulkColumns;
  readonly transfer_checks: BulkColumns;
};

/** The rows of these blocks that are not written one by one. Pure. @param keepFrom blocks with lower numbers get no row in `index_blocks` */
export function blockRows(blocks: readonly WrittenBlock[], keepFrom: bigint): BlockRows {
  const remembered = columnsOf({
    number: 'bigint',
    hash: 'bytea',
    parent_hash: 'bytea',
    block_time: 'timestamptz',
    wallets: 'text',
  });
  for (const block of blocks) {
    const { number, hash, parentHash } = block.header;
    if (number < keepFrom) continue;
    // PostgreSQL does not unnest an array of arrays row by row, so the wallets are sent as one text.
    const list = `{${[...block.wallets].map((wallet) => `"\\\\x${wallet.slice(2)}"`).join(',')}}`;
    remembered.add(String(number), bytes(hash), bytes(parentHash), timeOf(block), list);
  }
  return {
    index_blocks: remembered.columns,
    index_skipped_logs: skippedRows(blocks),
    nft_refreshes: refreshRows(blocks),
    ...nftRows(blocks),
    token_contracts: contractRows(blocks),
    native_sums: sumOfSums(blocks.map(({ sums }) => sums)),
    ...ledgerRows(blocks),
    transfer_checks: checkRows(blocks),
  };
}

function skippedRows(blocks: readonly IndexedBlock[]): BulkColumns {
  const rows = columnsOf({
    block_number: 'bigint',
    log_index: 'integer',
    contract: 'bytea',
    topic: 'bytea',
    reason: 'text',
  });
  for (const { header, skipped } of blocks) {
    for (const { logIndex, address, topic, reason } of skipped) {
      rows.add(String(header.number), String(logIndex), bytes(address), bytes(topic), reason);
    }
  }
  return rows.columns;
}

/** The tokens whose metadata changed, each once. */
function refreshRows(blocks: readonly IndexedBlock[]): BulkColumns {
  const rows = columnsOf({ contract: 'bytea', token_id: 'numeric' });
  const changes = blocks.flatMap(({ metadataChanges }) => metadataChanges);
  const wanted = new Map(changes.map((change) => [`${change.token}${change.tokenId}`, change]));
  for (const { token, tokenId } of wanted.values()) rows.add(bytes(token), String(tokenId ?? -1));
  return rows.columns;
}

const standards = { ERC721: '721', ERC1155: '1155' } as const;

function nftRows(blocks: readonly IndexedBlock[]) {
  const token = { wallet: 'bytea', contract: 'bytea', token_id: 'numeric', standard: 'smallint' };
  const changed = columnsOf({
    ...token,
    block_number: 'bigint',
    log_index: 'integer',
    part: 'integer',
    delta: 'numeric',
    gained: 'boolean',
  });
  const changes = blocks.flatMap(nftChanges);
  for (const { wallet, contract, tokenId, standard, ...change } of changes) {
    const { blockNumber, logIndex, part, delta, gained } = change;
    const place = [blockNumber, logIndex, part, delta, gained].map(String);
    changed.add(bytes(wallet), bytes(contract), String(tokenId), standards[standard], ...place);
  }
  const held = columnsOf({
    ...token,
    amount: 'numeric',
    acquired_block: 'bigint',
    acquired_log: 'integer',
    changed_block: 'bigint',
    start_amount: 'numeric',
  });
  for (const holding of sumChanges(changes)) {
    const { wallet, contract, tokenId, standard, amount, acquired, changedBlock, start } = holding;
    held.add(
      bytes(wallet),
      bytes(contract),
      String(tokenId),
      standards[standard],
      String(amount),
      acquired === undefined ? null : String(acquired.blockNumber),
      acquired === undefined ? null : String(acquired.logIndex),
      String(changedBlock),
      start?.toString() ?? null,
    );
  }
  return { nft_changes: changed.columns, nft_holdings: held.columns, nft_tokens: tokenRows(blocks) };
}

/** Every token that moved, each once, with its mint where that is in these blocks. */
function tokenRows(blocks: readonly IndexedBlock[]): BulkColumns {
  const tokens = new Map<string, (string | null)[]>();
  for (const { header, transactions } of blocks) {
    for (const { token, tokenId, standard, from, to, amount } of transactions.flatMap(({ nft }) => nft)) {
      if (amount === 0n) continue;
      const key = `${token}${tokenId}`;
      const minted = BigInt(from) === 0n;
      const known = tokens.get(key);
      // Only the first mint of an ERC-1155 counts.
      if (known !== undefined && (!minted || known[3] !== null)) continue;
      const birth = minted ? [String(header.number), bytes(to)] : [null, null];
      tokens.set(key, [bytes(token), String(tokenId), standards[standard], ...birth]);
    }
  }
  const rows = columnsOf({
    contract: 'bytea',
    token_id: 'numeric',
    standard: 'smallint',
    minted_block: 'bigint',
    minter: 'bytea',
  });
  for (const values of tokens.values()) rows.add(...values);
  return rows.columns;
}

/** A contract that was seen with several standards counts as the highest: ERC-20, then ERC-721, then ERC-1155. */
function contractRows(blocks: readonly IndexedBlock[]): BulkColumns {
  const kinds = new Map<string, number>();
  const see = (contract: string, kind: number) =>
    kinds.set(contract, Math.max(kind, kinds.get(contract) ?? 0));
  for (const { transactions } of blocks) {
    for (const { erc20, nft, approvals } of transactions) {
      for (const { token } of erc20) see(token, 20);
      for (const { token, standard } of nft) see(token, Number(standards[standard]));
      for (const { token, kind } of approvals) see(token, kind === 'amount' ? 20 : 721);
    }
  }
  const rows = columnsOf({ contract: 'bytea', standard: 'smallint' });
  for (const [contract, kind] of kinds) rows.add(bytes(contract), String(kind));
  return rows.columns;
}
