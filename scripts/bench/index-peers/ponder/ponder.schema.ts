import { onchainTable } from 'ponder';

/** A movement of coins or of one NFT; batches of ERC-1155 are a row for each id. */
export const transfer = onchainTable('transfer', (column) => ({
  id: column.text().primaryKey(),
  block: column.bigint().notNull(),
  transaction: column.hex().notNull(),
  contract: column.hex().notNull(),
  from: column.hex().notNull(),
  to: column.hex().notNull(),
  tokenId: column.bigint(),
  amount: column.bigint().notNull(),
}));
