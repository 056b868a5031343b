import type { IndexedBlock } from '../../decode/domain.ts';
import { bytes, type Row } from './bulk-store.ts';
import { checkRows } from './check-rows.ts';
import type { WrittenBlock } from './history-rows.ts';
import { ledgerRows, sumOfSums } from './ledger-rows.ts';
import { nftChanges, sumChanges } from './nft-changes.ts';

/** The rows of a batch of blocks, by table, without the rows of {@link WrittenBlock} and of `index_blocks`. */
export type BlockRows = ReturnType<typeof blockRows>;

/** Returns the rows of these blocks that are not written one by one. Pure. */
export function blockRows(blocks: readonly WrittenBlock[]) {
  return {
    index_skipped_logs: blocks.flatMap(skippedRows),
    nft_refreshes: refreshRows(blocks),
    ...nftRows(blocks),
    nft_tokens: tokenRows(blocks),
    token_contracts: contractRows(blocks),
    native_sums: sumOfSums(blocks.map(({ sums }) => sums)),
    ...ledgerRows(blocks),
    transfer_checks: checkRows(blocks),
  } satisfies Readonly<Record<string, readonly Row[]>>;
}

function skippedRows({ header, skipped }: IndexedBlock) {
  return skipped.map(({ logIndex, address, topic, reason }) => ({
    block_number: header.number,
    log_index: logIndex,
    contract: bytes(address),
    topic: bytes(topic),
    reason,
  }));
}

/** The tokens whose metadata changed, each once. */
function refreshRows(blocks: readonly IndexedBlock[]) {
  const changes = blocks.flatMap(({ metadataChanges }) => metadataChanges);
  const wanted = new Map(changes.map((change) => [`${change.token}${change.tokenId}`, change]));
  return [...wanted.values()].map(({ token, tokenId }) => ({
    contract: bytes(token),
    token_id: tokenId ?? -1,
  }));
}

const standards = { ERC721: 721, ERC1155: 1155 } as const;

function nftRows(blocks: readonly IndexedBlock[]) {
  const changes = blocks.flatMap(nftChanges);
  return {
    nft_changes: changes.map((change) => ({
      wallet: bytes(change.wallet),
      contract: bytes(change.contract),
      token_id: change.tokenId,
      standard: standards[change.standard],
      block_number: change.blockNumber,
      log_index: change.logIndex,
      part: change.part,
      delta: change.delta,
      gained: change.gained,
    })),
    nft_holdings: sumChanges(changes).map((holding) => ({
      wallet: bytes(holding.wallet),
      contract: bytes(holding.contract),
      token_id: holding.tokenId,
      standard: standards[holding.standard],
      amount: holding.amount,
      acquired_block: holding.acquired?.blockNumber ?? null,
      acquired_log: holding.acquired?.logIndex ?? null,
      changed_block: holding.changedBlock,
      start_amount: holding.start ?? null,
    })),
  };
}

type TokenRow = Pick<Row, 'contract' | 'token_id' | 'standard' | 'minted_block' | 'minter'>;

/** Every token that moved, each once, with its mint where that is in these blocks. */
function tokenRows(blocks: readonly IndexedBlock[]): readonly TokenRow[] {
  const tokens = new Map<string, TokenRow>();
  for (const { header, transactions } of blocks) {
    for (const { token, tokenId, standard, from, to, amount } of transactions.flatMap(({ nft }) => nft)) {
      if (amount === 0n) continue;
      const key = `${token}${tokenId}`;
      const minted = BigInt(from) === 0n;
      const known = tokens.get(key);
      // Only the first mint of an ERC-1155 counts.
      if (known !== undefined && (!minted || known.minted_block !== null)) continue;
      tokens.set(key, {
        contract: bytes(token),
        token_id: tokenId,
        standard: standards[standard],
        minted_block: minted ? header.number : null,
        minter: minted ? bytes(to) : null,
      });
    }
  }
  return [...tokens.values()];
}

/** A contract that was seen with several standards counts as the highest: ERC-20, then ERC-721, then ERC-1155. */
function contractRows(blocks: readonly IndexedBlock[]) {
  const kinds = new Map<string, number>();
  const see = (contract: string, kind: number) =>
    kinds.set(contract, Math.max(kind, kinds.get(contract) ?? 0));
  for (const { transactions } of blocks) {
    for (const { erc20, nft, approvals } of transactions) {
      for (const { token } of erc20) see(token, 20);
      for (const { token, standard } of nft) see(token, standards[standard]);
      for (const { token, kind } of approvals) see(token, kind === 'amount' ? 20 : 721);
    }
  }
  return [...kinds].map(([contract, standard]) => ({ contract: bytes(contract), standard }));
}
