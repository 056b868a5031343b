/** The newest block that a ledger has read. */
export type LedgerBlock = { readonly number: bigint; readonly hash: string; readonly time: Date };

/** Contracts of a network whose ledgers are at the same block. */
export type LedgerGroup = {
  readonly chainId: string;
  readonly contracts: readonly string[];
  readonly at: LedgerBlock;
};
