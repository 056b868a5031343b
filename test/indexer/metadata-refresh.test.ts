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
import { listen, shut } from '../support/listen.ts';
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
let base: string;
let moody: string;
let many: string;

const send = (chain: TestChain, to: string, data: string) => sendMined(chain.rpcUrl, { to, data });
const call = (chain: TestChain, name: string, values: readonly unknown[]) =>
  send(chain, moody, abi.encodeFunctionData(name, values));
const fetchDue = (database: TestDatabase) => {
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
async function index(database: TestDatabase, chain: TestChain): Promise<void> {
  await indexChain(database, chain.rpcUrl);
  while (await fetchDue(database));
}

/** Lets the time pass that has to pass before a refresh or another try. */
const later = async (database: TestDatabase) => {
  await database.db('nft_refreshes').whereNotNull('due').update({ due: database.db.fn.now() });
  await database.db('nft_tokens').whereNotNull('metadata_due').update({ metadata_due: database.db.fn.now() });
};

/** Reads what contracts tell, and what is due because of it once its time has come. */
async function refresh(database: TestDatabase, chain: TestChain): Promise<void> {
  await index(database, chain);
  await later(database);
  await index(database, chain);
}

async function namesOf(
  database: TestDatabase,
  chain: TestChain,
  contract: string,
): Promise<Record<string, unknown>> {
  const { entries } = await readerOf(database, testNetwork([chain.rpcUrl])).nfts(deployer);
  const own = entries.filter(({ token_address }) => token_address === contract);
  return Object.fromEntries(
    own.map((entry) => [entry.token_id, entry.normalized_metadata?.name ?? entry.metadata]),
  );
}

const dueRows = (database: TestDatabase) =>
  database.db('nft_refreshes').where({ chain_id: chainId }).whereNotNull('due');

test.beforeAll(async ({ database, chain }) => {
  base = `http://127.0.0.1:${await listen(host)}/`;
  const compiled = await compileContracts();
  moody = await deploy(chain.rpcUrl, compiled['Moody']);
  many = await deploy(chain.rpcUrl, compiled['MoodyPieces']);
  await call(chain, 'move', [base]);
  for (const id of [1, 2, 3]) await call(chain, 'mint', [deployer, id]);
  await send(chain, many, abi.encodeFunctionData('mint', [deployer, 7]));
  await index(database, chain);
});

test.beforeEach(async ({ database }) => {
  mood = 'calm';
  asked.length = 0;
  await database.db('nft_refreshes').delete();
});

afterAll(() => shut(host));

describe('metadata of tokens that tell of a change', () => {
  test('are read anew, those of the one token', async ({ database, chain }) => {
    expect(await namesOf(database, chain, moody)).toEqual({ 1: 'calm /1', 2: 'calm /2', 3: 'calm /3' });
    mood = 'wild';
    await call(chain, 'tell', [2]);
    await index(database, chain);
    expect(asked).toEqual([]); // not at once: changes come in flocks
    await later(database);
    await index(database, chain);
    expect(await namesOf(database, chain, moody)).toEqual({ 1: 'calm /1', 2: 'wild /2', 3: 'calm /3' });
    expect(asked).toEqual(['/2']);
  });

  test('are read anew at the address that the contract gives now, whole ranges too', async ({
    database,
    chain,
  }) => {
    await call(chain, 'move', [`${base}new/`]);
    await call(chain, 'tellMany', [1, 3]);
    await refresh(database, chain);
    expect(await namesOf(database, chain, moody)).toEqual({
      1: 'calm /new/1',
      2: 'calm /new/2',
      3: 'calm /new/3',
    });
  });

  test('are read anew for all tokens of a contract that names a range without end', async ({
    database,
    chain,
  }) => {
    mood = 'sad';
    await call(chain, 'tellMany', [0, 2n ** 256n - 1n]);
    await index(database, chain);
    expect(await dueRows(database)).toHaveLength(1);
    await later(database);
    await index(database, chain);
    expect(await namesOf(database, chain, moody)).toEqual({
      1: 'sad /new/1',
      2: 'sad /new/2',
      3: 'sad /new/3',
    });
  });

  test('are read anew when an ERC-1155 gives a token another address', async ({ database, chain }) => {
    await send(chain, many, pieces.encodeFunctionData('move', [7, `${base}seven`]));
    await refresh(database, chain);
    expect(await namesOf(database, chain, many)).toEqual({ 7: 'calm /seven' });
  });

  test('are read once however often a contract tells, and not again for a while', async ({
    database,
    chain,
  }) => {
    for (const _ of [1, 2, 3]) await call(chain, 'tell', [1]);
    await index(database, chain);
    expect(await dueRows(database)).toHaveLength(1);
    await later(database);
    await index(database, chain);
    expect(asked).toEqual(['/new/1']);
    await call(chain, 'tell', [1]);
    await index(database, chain);
    const [row] = await dueRows(database).select(
      database.db.raw(
        "due > now() + interval '8 minutes' AS later, due < now() + interval '12 minutes' AS soon",
      ),
    );
    expect(row).toEqual({ later: true, soon: true });
  });

  test('leave those that the index never saw alone', async ({ database, chain }) => {
    await call(chain, 'tell', [99]);
    await refresh(database, chain);
    expect(asked).toEqual([]);
    expect(await dueRows(database)).toEqual([]);
  });
});

describe('metadata that cannot be had', () => {
  const triesOf = async (database: TestDatabase, token: number) => {
    const row = await database
      .db('nft_tokens')
      .where({ chain_id: chainId, contract: Buffer.from(moody.slice(2), 'hex'), token_id: token })
      .first(
        'metadata_tries',
        database.db.raw('extract(epoch FROM metadata_due - metadata_read_at)::float8 AS pause'),
      );
    return { tries: row?.metadata_tries, pause: row?.pause };
  };

  test('are tried again later and later, and at last no more; what was had before stays', async ({
    database,
    chain,
  }) => {
    const before = await namesOf(database, chain, moody);
    mood = undefined;
    await call(chain, 'tell', [3]);
    await refresh(database, chain);
    const pauses: number[] = [];
    for (
      let { tries, pause } = await triesOf(database, 3);
      pause !== null;
      { tries, pause } = await triesOf(database, 3)
    ) {
      pauses.push(pause);
      expect(tries).toBe(pauses.length);
      expect(await fetchDue(database)).toBe(false);
      expect((await triesOf(database, 3)).tries).toBe(tries); // not before its time
      await later(database);
      await fetchDue(database);
    }
    expect(pauses).toHaveLength(6);
    for (const [place, pause] of pauses.entries()) {
      expect(pause).toBeCloseTo(5 * 6 ** place);
    }
    expect(asked).toHaveLength(7);
    expect(await namesOf(database, chain, moody)).toEqual(before);
  });

  test('come as soon as the host is well, and a token that tells of a change begins its tries anew', async ({
    database,
    chain,
  }) => {
    mood = 'well';
    await database.db('nft_refreshes').delete();
    await call(chain, 'tell', [3]);
    await refresh(database, chain);
    expect((await namesOf(database, chain, moody))['3']).toBe('well /new/3');
    expect(await triesOf(database, 3)).toEqual({ tries: 0, pause: null });
  });
});
