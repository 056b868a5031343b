import { Interface } from 'ethers';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createContractCalls } from '../../src/providers/indexer/tokens/contract-calls.ts';
import { createTokenFiller } from '../../src/providers/indexer/tokens/token-filler.ts';
import { createAccountStates } from '../../src/providers/indexer/verification/account-states.ts';
import { createStartFiller } from '../../src/providers/indexer/verification/start-filler.ts';
import { closing } from '../support/closing.ts';
import { callNode, deploy, deployer, sendMined } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { testNetwork } from '../support/networks.ts';
import { failure } from '../support/node/flaw.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { callsWith } from '../support/node/wrongs.ts';
import { compileContracts } from '../support/solidity.ts';

const chainId = '31337';
const log = createLogger({ level: 'silent' });
const hostile = '66'.repeat(18);
const hostileOf = (place: number) => `0x${hostile}${place.toString(16).padStart(4, '0')}`;
const unknownWords = callsWith(hostile, failure(-32000, 'not enough cpu counters to continue the execution'));
const nameSelector = '06fdde03';
const good = { coin: '', nft: '' };
let node: TestNode;

test.beforeAll(async ({ chain }) => {
  const compiled = await compileContracts();
  good.coin = (await deploy(chain.rpcUrl, compiled['Coin'])).toLowerCase();
  good.nft = (await deploy(chain.rpcUrl, compiled['Collectible'])).toLowerCase();
  const abi = new Interface(['function mint(address to, uint256 id) payable']);
  await sendMined(chain.rpcUrl, { to: good.nft, data: abi.encodeFunctionData('mint', [deployer, 7n]) });
});
test.beforeEach(async ({ chain, db }) => {
  for (const table of ['token_contracts', 'nft_tokens', 'nft_holdings', 'index_state'])
    await db(table).delete();
  node = await startNode(chain.rpcUrl);
});
test.afterEach(() => node.close());

function clientOf(timeoutMs = 500) {
  const clients = closing(createRpcClients({ timeoutMs, log }));
  return clients.for(testNetwork([node.url]));
}
const fillerOf = (db: Database, timeoutMs?: number) =>
  createTokenFiller({ chainId, calls: createContractCalls({ node: clientOf(timeoutMs) }), db });

const bytesOf = (address: string) => Buffer.from(address.slice(2), 'hex');
const seeContracts = (db: Database, ...contracts: string[]) =>
  db('token_contracts').insert(
    contracts.map((contract) => ({ chain_id: chainId, contract: bytesOf(contract), standard: 20 })),
  );
const seeTokens = (db: Database, ...contracts: string[]) =>
  db('nft_tokens').insert(
    contracts.map((contract) => ({
      chain_id: chainId,
      contract: bytesOf(contract),
      token_id: '7',
      standard: 721,
    })),
  );
const rowOf = (db: Database, table: string, contract: string) =>
  db(table)
    .where({ contract: bytesOf(contract) })
    .first();
const end = (db: Database) => async () => {
  await db('token_contracts').whereNull('read_at').update({ read_due: db.fn.now() });
  await db('nft_tokens').whereNotNull('uri_due').update({ uri_due: db.fn.now() });
};

describe('a contract that nodes answer in words that nobody knows', () => {
  test('keeps nobody from being read, and is read itself when nodes answer', async ({ db }) => {
    await seeContracts(db, hostileOf(0), good.coin);
    await seeTokens(db, hostileOf(0), good.nft);
    node.setFlaws(unknownWords);
    const filler = fillerOf(db);
    await filler.fill();
    expect(await rowOf(db, 'token_contracts', good.coin)).toMatchObject({ symbol: 'COIN', decimals: 6 });
    expect(await rowOf(db, 'nft_tokens', good.nft)).toMatchObject({
      token_uri: expect.stringContaining('7'),
    });
    expect(await rowOf(db, 'token_contracts', hostileOf(0))).toMatchObject({ read_at: null, read_tries: 1 });
    expect(await rowOf(db, 'nft_tokens', hostileOf(0))).toMatchObject({ uri_read_at: null, uri_tries: 1 });

    node.forget();
    await filler.fill();
    expect(node.asked).toEqual([]);

    await end(db)();
    node.setFlaws();
    await filler.fill();
    // It has no texts, and may get some later.
    expect(await rowOf(db, 'token_contracts', hostileOf(0))).toMatchObject({ read_at: null, read_tries: 2 });
    expect((await rowOf(db, 'nft_tokens', hostileOf(0))).uri_read_at).not.toBeNull();
  });

  test('rests for longer and longer, and is left as it is after seven tries', async ({ db }) => {
    await seeContracts(db, hostileOf(0));
    await seeTokens(db, hostileOf(0));
    node.setFlaws(unknownWords);
    const filler = fillerOf(db);
    const rests: number[][] = [];
    for (let tries = 1; tries <= 7; tries += 1) {
      await filler.fill();
      const [contract, token] = [
        await db('token_contracts').first('read_at', db.raw('read_due - now() AS rest')),
        await db('nft_tokens').first('uri_read_at', db.raw('uri_due - now() AS rest')),
      ];
      expect([contract.read_at === null, token.uri_read_at === null]).toEqual([tries < 7, tries < 7]);
      if (tries < 7) rests.push([contract.rest, token.rest].map(secondsOf));
      await end(db)();
    }
    for (const [place, rest] of rests.entries())
      for (const each of rest) expect(Math.abs(each - 5 * 6 ** Math.min(place, 5))).toBeLessThan(4);
    expect(await rowOf(db, 'nft_tokens', hostileOf(0))).toMatchObject({ uri_due: null, uri_stale: false });
    node.forget();
    await filler.fill();
    expect(node.asked).toEqual([]);
  });

  test('keeps nobody waiting, however many of it there are', async ({ db }) => {
    await seeContracts(db, ...Array.from({ length: 250 }, (_, place) => hostileOf(place)), good.coin);
    node.setFlaws(unknownWords);
    // No answer is late, however busy the machine is.
    const filler = fillerOf(db, 30_000);
    for (let fills = 0; fills < 3; fills += 1) await filler.fill();
    expect(await rowOf(db, 'token_contracts', good.coin)).toMatchObject({ symbol: 'COIN' });
  });
});

test('nodes that are out leave no contract without a name', async ({ db }) => {
  await seeContracts(db, good.coin);
  await seeTokens(db, good.nft);
  node.setFlaws(callsWith('', failure(-32000, 'backend is down')));
  await expect(fillerOf(db).fill()).rejects.toThrow('No node of network');
  expect(await rowOf(db, 'token_contracts', good.coin)).toMatchObject({ read_at: null, read_tries: 0 });
  expect(await rowOf(db, 'nft_tokens', good.nft)).toMatchObject({ uri_stale: true, uri_tries: 0 });
  node.setFlaws();
  await fillerOf(db).fill();
  expect(await rowOf(db, 'token_contracts', good.coin)).toMatchObject({ symbol: 'COIN' });
});

describe('the parts of a fill', () => {
  test('are done whatever becomes of the others', async ({ db }) => {
    await seeContracts(db, good.coin);
    await seeTokens(db, good.nft);
    node.setFlaws(callsWith(nameSelector, failure(-32000, 'header not found')));
    await fillerOf(db).fill();
    expect((await rowOf(db, 'nft_tokens', good.nft)).token_uri).toContain('7');
    expect(await rowOf(db, 'token_contracts', good.coin)).toMatchObject({ name: null, read_tries: 1 });
  });
});

describe('amounts from before the index', () => {
  const unstarted = async (db: Database) =>
    db('nft_holdings')
      .orderBy('contract')
      .select('start_tries', db.raw('start_amount IS NOT NULL AS started'));

  async function setUp(db: Database) {
    const head = await callNode<{ hash: string }>(node.url, 'eth_getBlockByNumber', ['latest', false]);
    await db('index_state').insert({
      chain_id: chainId,
      start_block: 5,
      head_number: 9,
      head_hash: bytesOf(head.hash),
      node_head: 9,
      head_time: db.fn.now(),
    });
    for (const contract of [hostileOf(0), `0x${'77'.repeat(20)}`])
      await db('nft_holdings').insert({
        chain_id: chainId,
        wallet: Buffer.alloc(20, 1),
        contract: bytesOf(contract),
        token_id: '1',
        standard: 1155,
        amount: 1,
        changed_block: 6,
      });
    return createStartFiller({ chainId, db, log, states: createAccountStates(clientOf()) });
  }
  const says = callsWith('77'.repeat(20), { result: `0x${'5'.padStart(64, '0')}` });

  test('are found beside a contract that nodes do not answer', async ({ db }) => {
    const fill = await setUp(db);
    node.setFlaws(unknownWords, says);
    await fill();
    expect(await unstarted(db)).toEqual([
      { start_tries: 1, started: false },
      { start_tries: 1, started: true },
    ]);
  });

  test('are asked for again where nodes are out', async ({ db }) => {
    const fill = await setUp(db);
    node.setFlaws(callsWith('', failure(-32000, 'backend is down')));
    await fill();
    expect(await unstarted(db)).toEqual(Array(2).fill({ start_tries: 0, started: false }));
  });
});

/** The seconds of an interval of PostgreSQL. */
function secondsOf({ hours = 0, minutes = 0, seconds = 0 }: Record<string, number>): number {
  return hours * 3_600 + minutes * 60 + seconds;
}
