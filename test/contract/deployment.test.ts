import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { giveCoins } from '../support/coins.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { indexChain } from '../support/index-chain.ts';
import type { TestService } from '../support/service.ts';
import { contractCases } from './cases/all.ts';
import { contractTest } from './command.ts';
import { createFacts, type Facts } from './facts.ts';
import { makeKnownData } from './known-data.ts';
import { createSender, type Sender } from './sender.ts';
import { createSession, type Session, Unprovoked } from './session.ts';

const test = base.extend('serviceOptions', perFile, ({ chain }) => ({ rpcUrl: chain.rpcUrl }));

// What the data provider of this deployment does not bring about.
const unprovoked = new Set([
  'operation_unsupported',
  'filter_unsupported',
  'listWalletNfts block_not_indexed',
  'getWalletHistory block_not_indexed',
]);
let sender: Sender;
let session: Session;
let facts: Facts;

test.beforeAll(async ({ chain, service }) => {
  // The holder of the minted NFT of the known data.
  await giveCoins(chain.rpcUrl, ['0x90F79bf6EB2c4f870365E785982E1f101E93b906']);
  await indexChain(service, chain.rpcUrl);
  await makeKnownData(service, 'acme');
  await makeKnownData(service, 'globex');
  await service.db('rwas').insert({
    company_id: service.companies.acme,
    name: 'Over the counter',
    type: 'wine',
    chain_id: 31337,
    contract_address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    is_claimable: false,
    claim_page: true,
  });
  const url = new URL(service.baseUrl);
  sender = createSender({
    baseUrls: { blockchain: url, events: url, rwa: url, claim: url, news: url },
    timeoutMs: 20_000,
  });
  session = createSession({
    sender,
    check: service.check,
    keys: {
      own: service.keys.acme,
      other: service.keys.globex,
      noCompany: service.keys.noCompany,
      scoped: service.keys.scoped,
    },
    mayWrite: true,
    given: {},
  });
  facts = createFacts(session);
});
afterAll(async () => {
  sender.close();
});

describe('every documented example', () => {
  const isTried = ({ operation, example }: (typeof contractCases)[number]) =>
    !unprovoked.has(example) && !unprovoked.has(`${operation} ${example}`);
  // Tests of the areas, and of every operation, provoke the others otherwise.
  const possible = contractCases.filter(({ isPossible }) => isPossible);
  const tried = possible.filter(isTried);

  test.each(tried)('$operation $status $example', async (each) => {
    await each.run(session, facts);
  });

  const others = possible.filter((each) => !isTried(each));

  test.each(others)('$operation $status $example is said not to be provoked', async (each) => {
    await expect(each.run(session, facts)).rejects.toThrow(Unprovoked);
  });

  test('leaves no event behind and names the NFTs', async ({ service }) => {
    const { deletedEvents, undeletedEvents, nfts } = await session.cleanUp();
    expect(deletedEvents).toBeGreaterThan(10);
    expect(undeletedEvents).toEqual([]);
    expect(nfts.length).toBeGreaterThan(5);
    const left = await service.db('events').where({ company_id: service.companies.acme }).pluck('name');
    expect(left).toEqual(['Opening']);
  });
});

describe('npm run contract:test', () => {
  const run = async (...args: readonly string[]) => {
    const lines: string[] = [];
    const status = await contractTest(args, (text) => lines.push(text));
    return { status, output: lines.join('\n') };
  };
  const target = (service: TestService) => ['--base-url', service.baseUrl, '--key', service.keys.acme];

  test('tells how it is used', async () => {
    const { status, output } = await run('--help');
    expect([status, output]).toEqual([0, expect.stringContaining('--base-url <url>')]);
  });

  test('without --write changes nothing, and says what it left out', async ({ service }) => {
    const before = await service.db('nfts').count();
    const { status, output } = await run(...target(service), '--only', 'createRwaNfts', '--only', 'getRwa');
    expect(output).toMatch(/createRwaNfts +│ 200 +│ not provoked/);
    expect(output).toMatch(/createRwaNfts +│ 400 +│ ok/);
    expect(output).toMatch(/0 failed/);
    expect(status).toBe(0);
    expect(await service.db('nfts').count()).toEqual(before);
  });

  test('fails where an answer is not as documented, and writes JUnit', async () => {
    const odd = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"rwas":[{"id":"1"}]}');
    });
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
    const address = odd.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const directory = mkdtempSync(path.join(tmpdir(), 'tallystick-junit-'));
    const junit = path.join(directory, 'contract.xml');
    const { status, output } = await run(
      ...['--base-url', `http://127.0.0.1:${port}`, '--key', 'any', '--only', 'listRwas', '--junit', junit],
    );
    odd.close();
    expect(status).toBe(1);
    expect(output).toMatch(/listRwas +│ 200 +│ FAILED/);
    expect(readFileSync(junit, 'utf8')).toMatch(
      /<failure message="[^"]*header X-Request-Id is missing|<failure/,
    );
    rmSync(directory, { recursive: true });
  });

  test.each([
    [[], /--base-url is missing/],
    [['--base-url', 'localhost:1'], /localhost:1 is no http\(s\) URL/],
    [['--base-url', 'http://127.0.0.1:9'], /--key is missing/],
    [['--base-url', 'http://127.0.0.1:9', '--key', 'x'], /Nothing listens there. Check --base-url/],
    [['--base-url', 'http://127.0.0.1:9', '--key', 'x', '--areas', 'wine'], /--areas knows blockchain/],
  ])('that cannot begin says why: %j', async (args, why) => {
    const { status, output } = await run(...args);
    expect([status, output]).toEqual([2, expect.stringMatching(why)]);
  });

  test('that is given a wrong key, or another server, says so', async ({ chain, service }) => {
    const wrongKey = await run('--base-url', service.baseUrl, '--key', 'tk_live_nobody');
    expect([wrongKey.status, wrongKey.output]).toEqual([
      2,
      expect.stringMatching(/the key is refused .*--key/),
    ]);
    const wrongServer = await run('--base-url', chain.rpcUrl, '--key', 'x');
    expect([wrongServer.status, wrongServer.output]).toEqual([2, expect.stringMatching(/no Tallystick/)]);
  });
});
