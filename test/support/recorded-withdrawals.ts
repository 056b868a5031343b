import { type RecordedBlock, readFixture } from './recorded-chain.ts';

type Oracle = {
  readonly transactions: readonly {
    readonly transferDeltas: Readonly<Record<string, string>>;
    readonly feeDeltas: Readonly<Record<string, string>>;
  }[];
  readonly blockLevel: readonly { readonly address: string; readonly delta: string }[];
};

const quantity = (value: bigint) => `0x${value.toString(16)}`;

/** A block whose withdrawals were recorded beside it, in the form of a node's answer. Their indexes are made up. */
export function withWithdrawals(name: string): RecordedBlock {
  const found = readFixture<RecordedBlock>(name);
  const { blockLevel } = readFixture<Oracle>(`${name}.native`);
  const withdrawals = blockLevel.map(({ address, delta }, index) => ({
    index: quantity(BigInt(index)),
    validatorIndex: quantity(1_000n + BigInt(index)),
    address,
    amount: quantity(BigInt(delta) / 10n ** 9n),
  }));
  const block = { ...found.block, withdrawals };
  return { ...found, block };
}

/** What the node saw every account gain and lose in the block, in wei: movements, fees, tips and withdrawals. */
export function recordedChanges(name: string): ReadonlyMap<string, bigint> {
  const { transactions, blockLevel } = readFixture<Oracle>(`${name}.native`);
  const changes = new Map<string, bigint>();
  const add = (account: string, delta: string) =>
    changes.set(account, (changes.get(account) ?? 0n) + BigInt(delta));
  for (const { transferDeltas, feeDeltas } of transactions) {
    for (const [account, delta] of Object.entries(transferDeltas)) add(account, delta);
    for (const [account, delta] of Object.entries(feeDeltas)) add(account, delta);
  }
  for (const { address, delta } of blockLevel) add(address, delta);
  return changes;
}
