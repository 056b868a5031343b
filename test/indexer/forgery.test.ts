import { Interface, id } from 'ethers';
import { describe, expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { worldContracts } from '../../src/local/sample/contracts.ts';
import { createBlockLogs } from '../../src/providers/indexer/decode/block-logs.ts';
import { withConsent } from '../../src/providers/indexer/decode/consent.ts';
import { decodeLogs } from '../../src/providers/indexer/decode/decode-logs.ts';
import { createNetworkIndex } from '../../src/providers/indexer/network-index.ts';
import { deleteIndex } from '../../src/providers/indexer/store/rollback/reset-store.ts';
import { compareBlock } from '../../src/providers/indexer/store/verify/verify-store.ts';
import { createAccountStates } from '../../src/providers/indexer/verification/account-states.ts';
import { createTransferChecker } from '../../src/providers/indexer/verification/transfer-checker.ts';
import type { HistoryFilter } from '../../src/providers/shared/provider.ts';
import type { TestChain } from '../support/chain.ts';
import { closing } from '../support/closing.ts';
import type { TestDatabase } from '../support/database.ts';
import { callNode, deploy, sendMined } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { startNode } from '../support/node/node.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { compileContracts } from '../support/solidity.ts';
import { createTestIndex } from './index-fixture.ts';
import { readerOf } from './reader.ts';

const log = createLogger({ level: 'silent' });

test.afterEach(async ({ database }) => {
  const { signal } = new AbortController();
  for (const chainId of ['1', '31337'])
    await deleteIndex(database.db, chainId, { signal, onProgress: () => {} });
});

type Index = ReturnType<typeof createTestIndex>;

const createIndex = (...parts: Parameters<typeof createTestIndex>) => closing(createTestIndex(...parts));

/** Checks all that is due. */
async function checkAll({ network, clients }: Index, { db }: TestDatabase): Promise<void> {
  const states = createAccountStates(clients.for(network));
  const check = createTransferChecker({ chainId: network.chainId, db, states, log });
  while (await check());
}

/** Returns how many transfers are marked as forged. */
async function forgedIn({ db }: TestDatabase): Promise<string> {
  const { rows } = await db.raw(
    "SELECT count(DISTINCT (block_number, key)) FROM wallet_history, json_each_text(verdicts) WHERE value = 'f'",
  );
  return rows[0].count;
}

const recordsOf = async (
  { network }: Index,
  database: TestDatabase,
  address: string,
  filter?: HistoryFilter,
) => (await readerOf(database, network).history(address, filter)).records;

describe('a transaction', () => {
  const address = (digit: string) => `0x${digit.repeat(40)}`;
  const [signer, called, token, pool, wallet] = ['1', '2', '3', '4', '5'].map(address) as [
    ...[string, string, string, string, string],
  ];
  const move = (from: string, logIndex: number) =>
    ({ token, from, to: wallet, value: 1n, logIndex, kind: 'transfer' }) as const;
  const log = (emitter: string) => ({ address: emitter, topics: [], data: '0x', index: 0 });
  const common = {
    transaction: { from: signer, to: called },
    created: null,
    nft: [],
    approvals: [],
    operations: [],
    borrowers: [],
    logs: [log(token), log(pool)],
  };

  test('shows who signed: its sender, and by a user operation, which only entry points tell', () => {
    const found = withConsent({
      ...common,
      erc20: [move(signer, 0), move(wallet, 1), move(pool, 2)],
      operations: [{ signer: wallet, logIndex: 9 }],
    });
    expect(found.erc20.map(({ verification }) => verification)).toEqual([undefined, 'signed', undefined]);
    expect([found.suspects, found.loudSuspects]).toEqual([[], [2]]);
    const topics = [
      id('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)'),
      '0x',
      wallet,
    ].map((topic) => `0x${topic.slice(2).padStart(64, '0')}`);
    const sendersOf = (emitter: string) =>
      decodeLogs([{ ...log(emitter), topics }], createBlockLogs(new Set())).operations.map(
        ({ signer }) => signer,
      );
    expect(sendersOf('0x0000000071727de22e5e9d8baf0edac6f37da032')).toEqual([wallet]);
    expect(sendersOf(pool)).toEqual([]);
  });

  test('makes senders suspicious that did not sign, also those that log: they may have a delegate', () => {
    const zero = address('0');
    const erc20 = [signer, called, token, pool, zero, wallet].map(move);
    expect(withConsent({ ...common, erc20 })).toMatchObject({ suspects: [5], loudSuspects: [1, 2, 3] });
  });

  test('marks approvals whose owner did not sign', () => {
    const approve = (owner: string, logIndex: number) =>
      ({ token, owner, spender: pool, kind: 'amount', value: 1n, granted: true, logIndex }) as const;
    const approvals = [signer, wallet, called].map(approve);
    const found = withConsent({
      ...common,
      erc20: [],
      approvals,
      operations: [{ signer: wallet, logIndex: 9 }],
    });
    expect(found.approvals.map(({ unsigned = false }) => unsigned)).toEqual([false, false, true]);
    expect(found.suspects).toEqual([2]);
  });
});

describe('on a local chain', () => {
  const abi = new Interface([
    'function transfer(address to, uint256 value)',
    'function transferFrom(address from, address to, uint256 value)',
    'function approve(address to, uint256 value)',
    'function give(address to, uint256 value)',
    'function seize(address from, address to, uint256 value)',
  ]);
  const forgery = new Interface(worldContracts.SampleForgery.abi);
  const stranger = `0x${'5a'.repeat(20)}`;

  const accountsOf = async ({ rpcUrl }: TestChain) =>
    (await callNode<string[]>(rpcUrl, 'eth_accounts', [])).map((account) => account.toLowerCase());

  const send = ({ rpcUrl }: TestChain, from: string, to: string, data: string) =>
    sendMined(rpcUrl, { from, to, data });

  /** A transfer of each kind, out of the second account. */
  async function act(chain: TestChain) {
    const [a = '', b = '', c = ''] = await accountsOf(chain);
    const compiled = await compileContracts();
    const coin = await deploy(chain.rpcUrl, compiled['Coin']);
    const seizing = await deploy(chain.rpcUrl, compiled['SeizingCoin']);
    const fake = await deploy(chain.rpcUrl, { ...worldContracts.SampleForgery, abi: [] });
    const call = (name: string, values: readonly unknown[]) => abi.encodeFunctionData(name, values);
    await send(chain, a, coin, call('transfer', [b, 900n]));
    await send(chain, a, seizing, call('give', [b, 500n]));
    await send(chain, b, coin, call('transfer', [c, 10n]));
    await send(chain, b, coin, call('approve', [c, 100n]));
    await send(chain, c, coin, call('transferFrom', [b, c, 40n]));
    await send(chain, c, coin, call('transferFrom', [b, c, 60n]));
    await send(chain, a, seizing, call('seize', [b, stranger, 200n]));
    await send(chain, c, fake, forgery.encodeFunctionData('forge', [[b], [stranger], 10n ** 9n]));
    await send(chain, a, coin, call('transferFrom', [b, stranger, 0n]));
    await send(chain, c, fake, forgery.encodeFunctionData('forge', [[seizing], [b], 7n]));
    return { b, fake };
  }

  const startOf = async ({ rpcUrl }: TestChain) =>
    BigInt(await callNode<string>(rpcUrl, 'eth_blockNumber', []));
  const local = { chainId: '31337', finalityDepth: 3 } as const;

  test('tells what its sender signed, approved, never did, and what moved without its consent', async ({
    database,
    chain,
  }) => {
    const index = createIndex(database, chain.rpcUrl, { ...local, startBlock: await startOf(chain) });
    const { b } = await act(chain);
    await index.follow();
    const before = await recordsOf(index, database, b);
    await checkAll(index, database);

    const records = await recordsOf(index, database, b);
    const told = records.flatMap(({ erc20_transfers, category, possible_spam }) =>
      erc20_transfers.map(({ value, verification, possible_spam: isSpam }) =>
        [value, verification, isSpam, possible_spam, category].join(' '),
      ),
    );
    expect(told).toEqual([
      '900 signed false false token receive',
      '500 unknown false false mint',
      '10 signed false false token send',
      '40 approved false false token send',
      '60 approved false false token send',
      '200 state-checked true true token send',
      '1000000000 forged true true contract interaction',
      '0 forged true true contract interaction',
      '7 unknown false false token receive',
    ]);
    // Of the 200 that were seized, a tenth is burned on the way.
    const received = records.flatMap(({ erc20_transfers }) =>
      erc20_transfers.flatMap(({ value, value_received }) =>
        value_received ? [[value, value_received]] : [],
      ),
    );
    expect(received).toEqual([['200', '180']]);
    // Until it is checked, nothing is called forged.
    expect(
      before.flatMap(({ erc20_transfers }) => erc20_transfers.map(({ verification }) => verification)),
    ).toEqual(['signed', 'unknown', 'signed', ...Array(6).fill('unknown')]);
    const shown = await recordsOf(index, database, b, { includeSpam: false });
    expect(shown).toEqual(records.filter((record) => !record.possible_spam));
    expect(shown).toHaveLength(records.length - 3);
    expect(
      records.filter(({ category }) => category === 'contract interaction').map(({ summary }) => summary),
    ).toEqual(Array(2).fill('Named in a transfer that did not happen'));
    // And the operator's comparison with the node knows of it.
    for (const { block_number } of records) {
      const recorded = await index.readBlock(BigInt(block_number));
      expect(await compareBlock(database.db, '31337', recorded)).toEqual([]);
    }
  });

  test.for([
    [
      'no longer has the state',
      { code: -32000, message: 'missing trie node 5f2c (path ) state is not available' },
    ],
    [
      'knows no states by hash',
      { code: -32602, message: 'invalid argument 1: hex string without 0x prefix' },
    ],
  ] as const)(
    'says unknown where the node %s, calls nothing forged, and asks again later',
    async ([_name, error], { database, chain }) => {
      const node = closing(await startNode(chain.rpcUrl));
      const index = createIndex(database, node.url, { ...local, startBlock: await startOf(chain) });
      const { b, fake } = await act(chain);
      await index.follow();
      node.setFlaws(({ method, params }) =>
        ['eth_call', 'eth_getCode'].includes(method) && typeof params[1] === 'object' ? { error } : undefined,
      );
      await checkAll(index, database);
      const transfers = async () =>
        (await recordsOf(index, database, b)).flatMap(({ erc20_transfers }) => erc20_transfers);
      const moved = (await transfers()).filter(({ value }) => value !== '0');
      expect(new Set(moved.map(({ verification }) => verification))).toEqual(
        new Set(['signed', 'approved', 'unknown']),
      );
      // Its sender has no code, which nodes know without the state of the block.
      expect(moved.find(({ address }) => address === fake)?.possible_spam).toBe(true);
      const isDue = () => database.db('transfer_checks').update({ due: new Date(0) });
      expect(await isDue()).toBeGreaterThan(0);
      node.setFlaws();
      await checkAll(index, database);
      expect((await transfers()).find(({ address }) => address === fake)?.verification).toBe('forged');
      expect(await database.db('transfer_checks').select()).toEqual([]);
    },
  );

  test('does not ask nodes that do not answer for ever', async ({ database, chain }) => {
    const node = closing(await startNode(chain.rpcUrl));
    const index = createIndex(database, node.url, { ...local, startBlock: await startOf(chain) });
    await act(chain);
    await index.follow();
    node.setFlaws(({ method }) =>
      method === 'eth_call' ? { error: { code: -32000, message: 'backend is down' } } : undefined,
    );
    for (let tries = 0; tries < 3; tries += 1) {
      await database.db('transfer_checks').update({ due: new Date(0) });
      await checkAll(index, database);
    }
    expect(await database.db('transfer_checks').select()).toEqual([]);
  });

  const lying = new Interface([
    'function give(address to, uint256 value)',
    'function seize(address from, address to, uint256 value)',
    'function forge(address from, address to, uint256 value)',
    'function behave(uint256 drift, bool silent)',
    'function approve(address spender, uint256 value)',
    'function approveFor(address owner, address spender, uint256 value)',
  ]);

  /** An index from here on of a token that forges, and moves what nobody approved. */
  async function startForging(database: TestDatabase, chain: TestChain) {
    const [a = '', b = '', c = ''] = await accountsOf(chain);
    const index = createIndex(database, chain.rpcUrl, {
      ...local,
      startBlock: (await startOf(chain)) + 1n,
    });
    const coin = await deploy(chain.rpcUrl, (await compileContracts())['ForgingCoin']);
    const dataOf = (name: string, values: readonly unknown[]) => lying.encodeFunctionData(name, values);
    return {
      a,
      b,
      c,
      coin,
      dataOf,
      call: (name: string, values: readonly unknown[], from = a) =>
        send(chain, from, coin, dataOf(name, values)),
      /** Indexes what happened, and checks it. */
      async check() {
        await index.follow();
        await checkAll(index, database);
      },
      records: (wallet: string, filter?: HistoryFilter) => recordsOf(index, database, wallet, filter),
      told: async (wallet: string) =>
        (await recordsOf(index, database, wallet)).flatMap(({ erc20_transfers }) =>
          erc20_transfers.map((move) => [move.value, move.verification, move.possible_spam].join(' ')),
        ),
    };
  }

  test.for([
    ['that merely changes its balances', 'forge', [1n, false], 50n, 'unknown'],
    ['whose balances change by as much as it logs', 'forge', [50n, false], 50n, 'state-checked'],
    ['whose balances change by more than it logs', 'forge', [60n, false], 50n, 'unknown'],
    ['that moved something without a signature before', 'forge', [0n, false], 50n, 'forged'],
    ['whose balances nobody can ask for', 'forge', [0n, true], 50n, 'unknown'],
    ['that really takes', 'seize', [0n, false], 50n, 'state-checked'],
  ] as const)(
    'calls it spam what a token %s logs of an account without code',
    async ([_name, method, behaviour, value, verification], { database, chain }) => {
      const { b, call, check, records: recordsFor } = await startForging(database, chain);
      await call('give', [b, 100n]);
      await call('seize', [b, stranger, 10n]);
      await call('behave', behaviour);
      await call(method, [b, stranger, value]);
      await check();
      const records = await recordsFor(b);
      const told = records.map(({ erc20_transfers: [move], possible_spam }) =>
        [move?.value, move?.verification, move?.possible_spam, possible_spam].join(' '),
      );
      expect(told).toEqual([
        '100 unknown false false',
        '10 state-checked true true',
        `${value} ${verification} true true`,
      ]);
      expect(await recordsFor(b, { includeSpam: false })).toEqual(records.slice(0, 1));
      expect(await recordsFor(stranger, { includeSpam: false })).toEqual([]);
    },
  );

  test('calls nothing spam of a token whose use the sender once approved, though by another', async ({
    database,
    chain,
  }) => {
    const { b, c, call, check, told } = await startForging(database, chain);
    await call('give', [b, 100n]);
    await call('give', [c, 100n]);
    await call('approve', [stranger, 1n], b);
    await call('approveFor', [c, stranger, 1n]);
    await call('seize', [b, stranger, 10n]);
    await call('seize', [c, stranger, 10n]);
    await call('forge', [b, stranger, 10n]);
    await check();
    expect(await told(b)).toEqual(['100 unknown false', '10 state-checked false', '10 forged true']);
    // An approval that the token only logs is none.
    expect(await told(c)).toEqual(['100 unknown false', '10 state-checked true']);
  });

  test('certifies nobody but the sender that was asked about', async ({ database, chain }) => {
    const { a, b, c, coin, dataOf, call, check, records } = await startForging(database, chain);
    await call('give', [b, 100n]);
    await callNode(chain.rpcUrl, 'evm_setAutomine', [false]);
    const calls = [
      ['seize', [b, stranger, 10n]],
      ['forge', [c, stranger, 10n]],
    ] as const;
    for (const [name, values] of calls) {
      const transaction = { from: a, to: coin, data: dataOf(name, values), gas: '0x7a120' };
      await callNode(chain.rpcUrl, 'eth_sendTransaction', [transaction]);
    }
    await callNode(chain.rpcUrl, 'evm_mine', []);
    await callNode(chain.rpcUrl, 'evm_setAutomine', [true]);
    await check();
    const last = async (wallet: string) => (await records(wallet)).at(-1)?.erc20_transfers[0]?.verification;
    expect([await last(b), await last(c)]).toEqual(['state-checked', 'forged']);
  });

  test('is kept of a contract as the sender, whatever the token says', async ({ database, chain }) => {
    const { call, check, records, told } = await startForging(database, chain);
    const vault = await deploy(chain.rpcUrl, (await compileContracts())['Coin']);
    await call('give', [vault, 100n]);
    await call('seize', [vault, stranger, 10n]);
    await call('forge', [vault, stranger, 10n]);
    await check();
    expect(await told(vault)).toEqual(['100 unknown false', '10 state-checked false', '10 unknown false']);
    expect(await records(stranger, { includeSpam: false })).toHaveLength(2);
  });

  test('is checked beside the indexing, by whoever indexes the network', async ({ database, chain }) => {
    const startBlock = await startOf(chain);
    await act(chain);
    const index = createIndex(database, chain.rpcUrl, local);
    const settings = { startBlock, traceMethod: 'none', parallel: 2, pollMs: 10, timeoutMs: 5_000 } as const;
    const { network, clients } = index;
    const { runner } = createNetworkIndex({ network, settings, db: database.db, clients, log });
    const end = new AbortController();
    const ended = runner.run(end.signal);
    await vi.waitFor(async () => expect(await forgedIn(database)).not.toBe('0'), { timeout: 10_000 });
    end.abort();
    await ended;
  });

  test('leaves alone what a reorganisation put in the place of the block', async ({ database, chain }) => {
    const index = createIndex(database, chain.rpcUrl, { ...local, startBlock: await startOf(chain) });
    const snapshot = await callNode<string>(chain.rpcUrl, 'evm_snapshot', []);
    const { b } = await act(chain);
    await index.follow();
    const [due] = await database.db('transfer_checks').orderBy('block_number', 'desc').select();
    await callNode(chain.rpcUrl, 'evm_revert', [snapshot]);
    await act(chain);
    await send(chain, b, b, '0x');
    await index.follow();
    // As if it had been read just before the blocks were replaced.
    await database.db('transfer_checks').delete();
    await database.db('transfer_checks').insert({ ...due, transfers: JSON.stringify(due.transfers) });
    await checkAll(index, database);
    const records = await recordsOf(index, database, b);
    const verifications = records.flatMap(({ erc20_transfers }) =>
      erc20_transfers.map((each) => each.verification),
    );
    expect(verifications).not.toContain('forged');
  });
});

/** Transactions whose gas is too little for as many changes of storage as they log transfers. */
const forged = [
  ['ethereum/22119617', '0x8cd29bb0b65ac3a42e00f6f2d4561d639f4fc9eb9797bba07156616a392a5210', 600],
  ['ethereum/17173050', '0x37ba10f7d6d7a0b46b2b6ff31ea304c1650de3643f832d9a471d5df29cd88690', 25],
] as const;

describe('in real blocks', () => {
  const balanceOf = '0x70a08231';

  /** Balances that follow every transfer of the block, but those of one transaction. @returns how many were asked for */
  function answersOf(node: ReplayNode, name: string, forgedHash: string): () => number {
    let asked = 0;
    const { header, transactions } = decodeRecorded(name);
    const changes = new Map<string, bigint>();
    const add = (key: string, value: bigint) => changes.set(key, (changes.get(key) ?? 0n) + value);
    for (const { hash, erc20 } of transactions) {
      if (hash === forgedHash) continue;
      for (const { token, from, to, value } of erc20) {
        add(token + from, -value);
        add(token + to, value);
      }
    }
    node.answerCalls(({ to, data }, blockHash) => {
      if (!data.startsWith(balanceOf)) return undefined;
      asked += 1;
      const change = changes.get(`${to}0x${data.slice(-40)}`) ?? 0n;
      return 2n ** 128n + (blockHash === header.hash ? change : 0n);
    });
    return () => asked;
  }

  test.for(forged)(
    '%s: %s logged %i transfers in the name of others',
    async ([name, hash, count], { database }) => {
      const recorded = readFixture<RecordedBlock>(name);
      const node = closing(await startReplayNode('1', [recorded]));
      node.setHead(recorded.block.hash);
      const balancesAsked = answersOf(node, name, hash);
      const index = createIndex(database, node.url, {
        chainId: '1',
        startBlock: BigInt(recorded.block.number),
      });
      await index.follow();
      await checkAll(index, database);
      expect(Number(await forgedIn(database))).toBeGreaterThanOrEqual(count);
      // Of a bounded number of senders and recipients, before and after the block.
      expect(balancesAsked()).toBeLessThanOrEqual(3_000);

      const all = decodeRecorded(name).transactions;
      const poisoned = all.find((transaction) => transaction.hash === hash);
      const victims = (poisoned?.erc20 ?? []).filter(({ from }) => from !== poisoned?.from);
      expect(victims).toHaveLength(count);
      for (const { from } of victims.slice(0, 10)) {
        const record = (await recordsOf(index, database, from)).find((each) => each.hash === hash);
        expect(record?.possible_spam).toBe(true);
        expect(new Set(record?.erc20_transfers.map(({ verification }) => verification))).toEqual(
          new Set(['forged']),
        );
      }
      // Nothing else that moved something is called forged.
      const { rows } = await database.db.raw(
        `SELECT DISTINCT tx_hash::text AS hash FROM wallet_history WHERE verdicts::text LIKE '%"f"%'`,
      );
      const marked = new Set(rows.map((row: { hash: string }) => row.hash.replace('\\x', '0x')));
      for (const { hash: other, erc20 } of all) {
        if (other !== hash && marked.has(other)) expect(erc20.some(({ value }) => value === 0n)).toBe(true);
      }
    },
  );
});
