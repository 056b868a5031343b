import { createServer } from 'node:http';
import { Interface } from 'ethers';
import { afterAll, describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { createMetadataFetcher } from '../../src/providers/indexer/tokens/metadata-fetcher.ts';
import { createMetadataFiller } from '../../src/providers/indexer/tokens/metadata-filler.ts';
import { createMetadataHosts } from '../../src/providers/indexer/tokens/metadata-hosts.ts';
import type { TestChain } from '../support/chain.ts';
import type { TestDatabase } from '../support/database.ts';
import { deploy, deployer, sendMined } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import { shut, startListening } from '../support/listen.ts';
import { testNetwork } from '../support/networks.ts';
import { compileContracts } from '../support/solidity.ts';
import { readerOf } from './reader.ts';

const abi = new Interface([
  'function mint(address to, uint256 id)',
  'function move(string to)',
  'function tell(uint256 id)',
  'function tellMany(uint256 from, uint256 to)',
]);
const pieces = new Interface(['function move(uint256 id, string to)']);
const chainId = '31337';
const log = createLogger({ level: 'silent' });

/** What the host of the metadata says now; undefined makes it fail. */
let mood: string | undefined = 'calm';
const asked: string[] = [];
const host = createServer((request, response) => {
  asked.push(request.url ?? '');
  if (mood === undefined) response.writeHead(500).end();
  else response.end(JSON.stringify({ name: `${mood} ${request.url}` }));
});
let database: TestDatabase;
let chain: TestChain;
let base: string;
let moody: string;
let many: string;

const send = (to: string, data: string) => sendMined(chain.rpcUrl, { to, data });
const call = (name: string, values: readonly unknown[]) => send(moody, abi.encodeFunctionData(name, values));
const fetchDue = () => {
  const hostname = new URL(base).host;
  const fetcher = createMetadataFetcher({
    ipfsGateway: 'http://127.0.0.1:1',
    arweaveGateway: 'http://127.0.0.1:1',
    timeoutMs: 2_000,
    maxBytes: 10_000,
    hosts: createMetadataHosts({ outgoing: createOutgoing(), allowedHosts: new Set([hostname]) }),
  });
  return createMetadataFiller({ chainId, db: database.db, fetcher, log })();
};

/** Reads the chain, what it tells of tokens, and the metadata that are due. */
async function index(): Promise<void> {
  await indexChain(database, chain.rpcUrl);
  while (await fetchDue());
}

/** Lets the time pass that has to pass before a refresh or another try. */
const later = async () => {
  await database.db('nft_refreshes').whereNotNull('due').update({ due: database.db.fn.now() });
  await database.db('nft_tokens').whereNotNull('metadata_due').update({ metadata_due: database.db.fn.now() });
};

/** Reads what contracts tell, and what is due because of it once its time has come. */
async function refresh(): Promise<void> {
  await index();
  await later();
  await index();
}

async function namesOf(contract: string): Promise<Record<string, unknown>> {
  const { entries } = await readerOf(database, testNetwork([chain.rpcUrl])).nfts(deployer);
  const own = entries.filter(({ token_address }) => token_address === contract);
  return Object.fromEntries(
    own.map((entry) => [entry.token_id, entry.normalized_metadata?.name ?? entry.metadata]),
  );
}

const dueRows = () => database.db('nft_refreshes').where({ chain_id: chainId }).whereNotNull('due');

test.beforeAll(async ({ database: ownDatabase, chain: ownChain }) => {
  [database, chain] = [ownDatabase, ownChain];
  base = `http://127.0.0.1:${await startListening(host)}/`;
  const compiled = await compileContracts();
  moody = await deploy(chain.rpcUrl, compiled['Moody']);
  many = await deploy(chain.rpcUrl, compiled['MoodyPieces']);
  await call('move', [base]);
  for (const id of [1, 2, 3]) await call('mint', [deployer, id]);
  await send(many, abi.encodeFunctionData('mint', [deployer, 7]));
  await index();
});

test.beforeEach(async () => {
  mood = 'calm';
  asked.length = 0;
  await database.db('nft_refreshes').delete();
});

afterAll(() => shut(host));

describe('metadata of tokens that tell of a change', () => {
  test('are read anew, those of the one token', async () => {
    expect(await namesOf(moody)).toEqual({ 1: 'calm /1', 2: 'calm /2', 3: 'calm /3' });
    mood = 'wild';
    await call('tell', [2]);
    await index();
    expect(asked).toEqual([]); // not at once: changes come in flocks
    await later();
    await index();
    expect(await namesOf(moody)).toEqual({ 1: 'calm /1', 2: 'wild /2', 3: 'calm /3' });
    expect(asked).toEqual(['/2']);
  });

  test('are read anew at the address that the contract gives now, whole ranges too', async () => {
    await call('move', [`${base}new/`]);
    await call('tellMany', [1, 3]);
    await refresh();
    expect(await namesOf(moody)).toEqual({
      1: 'calm /new/1',
      2: 'calm /new/2',
      3: 'calm /new/3',
    });
  });

  test('are read anew for all tokens of a contract that names a range without end', async () => {
    mood = 'sad';
    await call('tellMany', [0, 2n ** 256n - 1n]);
    await index();
    expect(await dueRows()).toHaveLength(1);
    await later();
    await index();
    expect(await namesOf(moody)).toEqual({
      1: 'sad /new/1',
      2: 'sad /new/2',
      3: 'sad /new/3',
    });
  });

  test('are read anew when an ERC-1155 gives a token another address', async () => {
    await send(many, pieces.encodeFunctionData('move', [7, `${base}seven`]));
    await refresh();
    expect(await namesOf(many)).toEqual({ 7: 'calm /seven' });
  });

  test('are read once however often a contract tells, and not again for a while', async () => {
    for (const _ of [1, 2, 3]) await call('tell', [1]);
    await index();
    expect(await dueRows()).toHaveLength(1);
    await later();
    await index();
    expect(asked).toEqual(['/new/1']);
    await call('tell', [1]);
    await index();
    const [row] = await dueRows().select(
      database.db.raw(
        "due > now() + interval '8 minutes' AS later, due < now() + interval '12 minutes' AS soon",
      ),
    );
    expect(row).toEqual({ later: true, soon: true });
  });

  test('leave those that the index never saw alone', async () => {
    await call('tell', [99]);
    await refresh();
    expect(asked).toEqual([]);
    expect(await dueRows()).toEqual([]);
  });
});

describe('metadata that cannot be had', () => {
  const triesOf = async (token: number) => {
    const row = await database
      .db('nft_tokens')
      .where({ chain_id: chainId, contract: Buffer.from(moody.slice(2), 'hex'), token_id: token })
      .first(
        'metadata_tries',
        database.db.raw('extract(epoch FROM metadata_due - metadata_read_at)::float8 AS pause'),
      );
    return { tries: row?.metadata_tries, pause: row?.pause };
  };

  test('are tried again later and later, and at last no more; what was had before stays', async () => {
    const before = await namesOf(moody);
    mood = undefined;
    await call('tell', [3]);
    await refresh();
    const pauses: number[] = [];
    for (let { tries, pause } = await triesOf(3); pause !== null; { tries, pause } = await triesOf(3)) {
      pauses.push(pause);
      expect(tries).toBe(pauses.length);
      expect(await fetchDue()).toBe(false);
      expect((await triesOf(3)).tries).toBe(tries); // not before its time
      await later();
      await fetchDue();
    }
    expect(pauses).toHaveLength(6);
    for (const [place, pause] of pauses.entries()) {
      expect(pause).toBeCloseTo(5 * 6 ** place);
    }
    expect(asked).toHaveLength(7);
    expect(await namesOf(moody)).toEqual(before);
  });

  test('come as soon as the host is well, and a token that tells of a change begins its tries anew', async () => {
    mood = 'well';
    await database.db('nft_refreshes').delete();
    await call('tell', [3]);
    await refresh();
    expect((await namesOf(moody))['3']).toBe('well /new/3');
    expect(await triesOf(3)).toEqual({ tries: 0, pause: null });
  });
});
