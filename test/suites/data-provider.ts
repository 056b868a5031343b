import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Network } from '../../src/chain/rpc/client/network.ts';
import type {
  DataProvider,
  Freshness,
  HistoryQuestion,
  HistoryRecord,
  NftEntry,
  SortOrder,
} from '../../src/providers/shared/provider.ts';
import { maxPositionLength } from '../../src/providers/shared/provider.ts';
import { contractSchema } from '../support/contract-schema.ts';

/** What the suite needs of a provider: a wallet of which everything is known. */
export type ProviderSetup = {
  readonly provider: Pick<DataProvider, 'history' | 'nfts'>;
  readonly network: Network;
  /** Has at least five transactions and three NFTs; one transaction creates a contract. */
  readonly wallet: string;
  /** Hashes of its transactions, oldest first. */
  readonly hashes: readonly string[];
  /** Its NFTs as `contract/token id/amount`, in any order. */
  readonly nfts: readonly string[];
  /** Never did anything. */
  readonly stranger: string;
  close(): Promise<void>;
};

type Running = { setup?: ProviderSetup };
type Walked<T> = { readonly pages: readonly (readonly T[])[]; readonly all: readonly T[] };

/** The one suite that every data provider passes: what the contract promises of all. */
export function describeDataProvider(name: string, start: () => Promise<ProviderSetup>): void {
  describe(`the ${name} data provider`, () => {
    const running: Running = {};
    beforeAll(async () => {
      running.setup = await start();
    });
    afterAll(() => running.setup?.close());

    describeHistory(running);
    describeRecords(running);
    describeNfts(running);
    describeStrangers(running);
  });
}

function setupOf({ setup }: Running): ProviderSetup {
  if (setup === undefined) throw new Error('the setup did not start');
  return setup;
}

const limits = [1, 2, 3, 100];
const orders: readonly SortOrder[] = ['ASC', 'DESC'];

function describeHistory(running: Running): void {
  describe('the history', () => {
    test.each(orders.flatMap((order) => limits.map((limit) => ({ order, limit }))))(
      'has every transaction once and in order: $order by $limit',
      async ({ order, limit }) => {
        const { hashes } = setupOf(running);
        const { all, pages } = await walkHistory(running, order, limit);
        const expected = order === 'ASC' ? hashes : [...hashes].reverse();
        expect(all.map(({ hash }) => hash)).toEqual(expected);
        expect(pages.every((page) => page.length <= limit)).toBe(true);
      },
    );

    test('gives the same page again for the same question', async () => {
      const question = questionOf(setupOf(running), { limit: 2 });
      const { next } = await setupOf(running).provider.history(question);
      const second = { ...question, position: next, page: 1 };
      const { records } = await setupOf(running).provider.history(second);
      expect((await setupOf(running).provider.history(second)).records).toEqual(records);
      expect(records.length).toBeGreaterThan(0);
    });
  });
}

function describeRecords(running: Running): void {
  const faultsOf = contractSchema('WalletHistoryRecord');

  describe('a record of the history', () => {
    test('is as the contract says', async () => {
      const { all } = await walkHistory(running, 'ASC', 100);
      expect(all.flatMap(faultsOf)).toEqual([]);
    });

    test('belongs to the wallet, and a direction is what the wallet sees', async () => {
      const { wallet } = setupOf(running);
      const { all } = await walkHistory(running, 'ASC', 100);
      for (const record of all) {
        const moved = [...record.native_transfers, ...record.erc20_transfers, ...record.nft_transfers];
        const touched = [record, ...moved].flatMap((part) => [part.from_address, part.to_address]);
        expect(touched).toContain(wallet);
        for (const { from_address: from, to_address: to, direction } of moved) {
          if (from === wallet) expect(direction).toBe('send');
          else if (to === wallet) expect(direction).toBe('receive');
        }
      }
    });

    test('has no recipient where a contract was created', async () => {
      const { all } = await walkHistory(running, 'ASC', 100);
      expect(all.filter((record) => record.to_address === null).length).toBeGreaterThan(0);
    });
  });
}

function describeNfts(running: Running): void {
  const faultsOf = contractSchema('WalletNft');

  describe('the NFT list', () => {
    test.each(orders.flatMap((order) => limits.map((limit) => ({ order, limit }))))(
      'has every NFT once: $order by $limit',
      async ({ order, limit }) => {
        const { nfts } = setupOf(running);
        const { all, pages } = await walkNfts(running, order, limit);
        const found = all.map((entry) => [entry.token_address, entry.token_id, entry.amount].join('/'));
        expect(found.toSorted()).toEqual(nfts.toSorted());
        expect(pages.every((page) => page.length <= limit)).toBe(true);
      },
    );

    test('has entries that are as the contract says, of this wallet', async () => {
      const { all } = await walkNfts(running, 'DESC', 100);
      expect(all.flatMap(faultsOf)).toEqual([]);
      expect(new Set(all.map((entry) => entry.owner_of))).toEqual(new Set([setupOf(running).wallet]));
      expect(all.some((entry) => 'status' in entry)).toBe(false);
    });
  });
}

function describeStrangers(running: Running): void {
  test('has nothing to say of a wallet that never did anything', async () => {
    const { provider, stranger } = setupOf(running);
    const question = questionOf(setupOf(running), { address: stranger });
    expect(await provider.history(question)).toMatchObject({ records: [], next: undefined });
    expect(await provider.nfts(question)).toMatchObject({ entries: [], next: undefined });
  });
}

function questionOf({ network, wallet }: ProviderSetup, changes: Partial<HistoryQuestion>): HistoryQuestion {
  return { network, address: wallet, order: 'DESC', limit: 100, position: undefined, page: 0, ...changes };
}

function walkHistory(running: Running, order: SortOrder, limit: number): Promise<Walked<HistoryRecord>> {
  const { provider } = setupOf(running);
  return walk(running, { order, limit }, async (question) => {
    const { records, ...rest } = await provider.history(question);
    return { ...rest, items: records };
  });
}

function walkNfts(running: Running, order: SortOrder, limit: number): Promise<Walked<NftEntry>> {
  const { provider } = setupOf(running);
  return walk(running, { order, limit }, async (question) => {
    const { entries, ...rest } = await provider.nfts(question);
    return { ...rest, items: entries };
  });
}

type Page<T> = {
  readonly items: readonly T[];
  readonly next: string | undefined;
  readonly completeTo?: Freshness;
};

async function walk<T>(
  running: Running,
  changes: Pick<HistoryQuestion, 'order' | 'limit'>,
  ask: (question: HistoryQuestion) => Promise<Page<T>>,
): Promise<Walked<T>> {
  const pages: (readonly T[])[] = [];
  let position: string | undefined;
  do {
    const { items, next, completeTo } = await ask(
      questionOf(setupOf(running), { ...changes, position, page: pages.length }),
    );
    pages.push(items);
    if (next !== undefined) {
      expect(next).toMatch(/^[\x21-\x7e]+$/);
      expect(next.length).toBeLessThanOrEqual(maxPositionLength);
    }
    if (completeTo !== undefined) expect(completeTo.blockHash).toMatch(/^0x[0-9a-f]{64}$/);
    position = next;
  } while (position !== undefined && pages.length < 1_000);
  return { pages, all: pages.flat() };
}
