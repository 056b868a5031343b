import { describe, expect, test } from 'vitest';
import type { IndexedTransaction, NativeMovement } from '../../src/providers/indexer/decode/domain.ts';
import { decodeRecorded, fixturesLike, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';

type Changes = Readonly<Record<string, string>>;
type NativeOracle = {
  readonly transactions: readonly {
    readonly transactionHash: string;
    readonly transferDeltas: Changes;
    readonly feeDeltas: Changes;
  }[];
};

type LoggedBlock = {
  readonly receipts: readonly {
    readonly transactionHash: string;
    readonly logs: readonly {
      readonly address: string;
      readonly topics: readonly string[];
      readonly data: string;
    }[];
  }[];
};

/** Net change per account, without those that end at zero. */
function net(movements: readonly NativeMovement[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const { from, to, value } of movements) {
    sums[from] = (sums[from] ?? 0n) - value;
    sums[to] = (sums[to] ?? 0n) + value;
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n));
}

function bigints(changes: Changes): Record<string, bigint> {
  const entries = Object.entries(changes).map(([account, change]) => [account, BigInt(change)] as const);
  return Object.fromEntries(entries.filter(([, change]) => change !== 0n));
}

describe('native movements', () => {
  test.each(fixturesLike('ethereum/*.native'))('equal the state changes of %s to the wei', (name) => {
    const oracle = readFixture<NativeOracle>(name).transactions;
    const { transactions } = decodeRecorded(name.replace('.native', ''));
    expect(transactions.map(({ hash }) => hash)).toEqual(
      oracle.map(({ transactionHash }) => transactionHash),
    );
    for (const [index, { transferDeltas, feeDeltas }] of oracle.entries()) {
      const { native, fee, from } = transactions[index] as IndexedTransaction; // of the same length
      expect(net(native)).toEqual(bigints(transferDeltas));
      expect(-(fee ?? 0n)).toBe(bigints(feeDeltas)[from]);
    }
  });

  type Balances = { readonly newBalances: Readonly<Record<string, string>> };

  test.each(['ethereum/14000000', 'ethereum/17000000'])('touch exactly the accounts of %s', (name) => {
    const { newBalances } = readFixture<Balances>(`${name}.balances`);
    const { block } = readFixture<RecordedBlock & { block: { withdrawals?: { address: string }[] } }>(name);
    const { transactions } = decodeRecorded(name);
    const paying = transactions.map(({ from, fee }) => ({
      from,
      to: block.miner,
      value: fee ?? 0n,
      internal: false,
    }));
    const touched = new Set([
      ...Object.keys(net([...transactions.flatMap(({ native }) => native), ...paying])),
      ...(block.withdrawals ?? []).map(({ address }) => address),
      block.miner,
    ]);
    expect([...touched].sort()).toEqual(Object.keys(newBalances).sort());
  });

  test('equal what the native contract of Polygon logs of them, transfer by transfer', () => {
    const { receipts } = readFixture<LoggedBlock>('polygon/20000000');
    // LogTransfer(address token, address from, address to, uint256 amount, …) of the contract of the native asset.
    const topic = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';
    const account = (word = '') => `0x${word.slice(-40)}`;
    const logged = receipts.flatMap(({ transactionHash, logs }) =>
      logs
        .filter(({ address, topics }) => BigInt(address) === 0x1010n && topics[0] === topic)
        .map(({ topics, data }) =>
          [transactionHash, account(topics[2]), account(topics[3]), BigInt(data.slice(0, 66))].join(' '),
        )
        .filter((line) => !line.endsWith(' 0')),
    );
    const { transactions, traced } = decodeRecorded('polygon/20000000');
    const found = transactions.flatMap(({ hash, native }) =>
      native.map(({ from, to, value }) => [hash, from, to, value].join(' ')),
    );
    expect(traced).toBe(true);
    expect(found.length).toBeGreaterThan(50);
    expect(found.sort()).toEqual(logged.sort());
  });

  test('name only accounts that changed where there are no traces', () => {
    const { newBalances } = readFixture<Balances>('ethereum/20000000.balances');
    const { transactions, traced } = decodeRecorded('ethereum/20000000');
    // A contract may pass on what it got, so only plain transfers must show at their recipient.
    const plain = transactions.filter(({ selector }) => selector === null).flatMap(({ native }) => native);
    const named = [...transactions.map(({ from }) => from), ...plain.map(({ to }) => to)];
    expect(traced).toBe(false);
    expect(named.length).toBeGreaterThan(transactions.length);
    expect(named.filter((account) => !(account in newBalances))).toEqual([]);
  });
});

type Operation = {
  readonly type: string;
  readonly status: string;
  readonly account: { readonly address: string };
  readonly amount: { readonly value: string; readonly currency: { readonly symbol: string } };
};
type OperationsOracle = {
  readonly transactions: readonly {
    readonly transaction_identifier: { readonly hash: string };
    readonly operations: readonly Operation[];
  }[];
};

describe('operations', () => {
  test.each(fixturesLike('*/*.operations'))('of %s agree on movements and fees', (name) => {
    const oracle = readFixture<OperationsOracle>(name).transactions;
    const { transactions } = decodeRecorded(name.replace('.operations', ''));
    const known = new Map(oracle.map((entry) => [entry.transaction_identifier.hash, entry.operations]));
    for (const { hash, native, fee, from } of transactions) {
      const operations = known.get(hash) ?? [];
      expect(net(native)).toEqual(
        sum(operations.filter(({ type, status }) => isMove(type) && status === 'SUCCESS')),
      );
      const paid = sum(operations.filter(({ type }) => type === 'FEE'));
      if (fee !== null && fee > 0n) expect(paid[from]).toBe(-fee);
    }
  });
});

const isMove = (type: string) => ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'].includes(type);

function sum(operations: readonly Operation[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const { account, amount } of operations) {
    const address = account.address.toLowerCase();
    sums[address] = (sums[address] ?? 0n) + BigInt(amount.value);
  }
  return Object.fromEntries(Object.entries(sums).filter(([, total]) => total !== 0n));
}
