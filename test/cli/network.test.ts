import { afterAll, describe, expect } from 'vitest';
import { startNode, type TestNode } from '../support/node/node.ts';
import { failures } from '../support/node/transport-flaws.ts';
import { freePort } from '../support/postgres.ts';
import { auditedActions } from './command-line.ts';
import { test } from './fixtures.ts';

const minter = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const wrapped = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
const named = ['--name', 'Local', '--symbol', 'ETH'];
// The chain's own node takes no path; this one takes any, as those of providers do.
let node: TestNode;
/** The chain's node as a provider writes it: with a password, a path and a key that nobody may see. */
let secretUrl: string;

test.beforeAll(async ({ chain }) => {
  node = await startNode(chain.rpcUrl);
  secretUrl = `${node.url.replace('//', '//user:pass-word@')}/v2/api-key?token=to-ken`;
});
afterAll(async () => {
  await node.close();
});

const hidden = /user|pass-word|v2|api-key|to-ken/;

describe('network add', () => {
  test('asks every node for its chain id, registers the network and shows no credentials', async ({
    db,
    run,
  }) => {
    const plain = node.url;
    const { status, out, err } = await run(
      'network',
      'add',
      '31337',
      ...named,
      ...['--rpc', secretUrl, '--rpc', plain, '--minter-contract', minter.toLowerCase()],
      ...['--index-from', '5000000000', '--index-traces', 'debug', '--wrapped-native', wrapped.toLowerCase()],
    );
    expect(status).toBe(0);
    expect(err).toContain(`${node.url}/[redacted] serves chain 31337, block 0.`);
    expect(err).toContain(`${plain} serves chain 31337, block 0.`);
    expect(out).toMatch(/^hexChainId +0x7a69$/m);
    expect(out).toMatch(new RegExp(`^minterContract +${minter}$`, 'm'));
    expect(out).toContain(`${node.url}/[redacted], ${plain}`);
    expect(out + err).not.toMatch(hidden);
    expect(await db('networks').where({ chain_id: 31337 }).first()).toMatchObject({
      rpc_urls: [`${node.url}/[redacted]`, plain],
      currency_name: 'ETH',
      currency_decimals: 18,
      data_provider: 'indexer',
      confirmations: 12,
      finality_depth: 64,
      minter_contract: minter,
      index_from: '5000000000',
      index_traces: 'debug',
      wrapped_natives: [wrapped],
    });
  });

  test('knows the wrapped native token of well-known networks, unless it is told', async ({
    chain,
    json,
  }) => {
    const ethereum = await startNode(chain.rpcUrl);
    ethereum.setFlaws(failures['wrong chain']); // it says that it is Ethereum
    const add = (...args: string[]) =>
      json('network', 'add', '1', '--name', 'Ethereum', '--symbol', 'ETH', '--rpc', ethereum.url, ...args);
    expect((await add()).value).toMatchObject({ wrappedNatives: [wrapped] });
    expect((await json('network', 'remove', '1')).status).toBe(0);
    expect((await add('--wrapped-native', '')).value).toMatchObject({ wrappedNatives: [] });
    expect((await json('network', 'remove', '1')).status).toBe(0);
    await ethereum.close();
  });

  test('refuses one that is registered already', async ({ chain, json }) => {
    const { status, error } = await json('network', 'add', '31337', ...named, '--rpc', chain.rpcUrl);
    expect(status).toBe(2);
    expect(error?.message).toBe(
      'Network 31337 is registered already. Change it with: tallystick network update 31337',
    );
  });

  test('names every node that cannot serve it, and registers nothing', async ({ run, json }) => {
    const dead = `http://user:pass-word@127.0.0.1:${await freePort()}/api-key`;
    const args = ['77', ...named, '--rpc', secretUrl, '--rpc', dead, '--rpc', 'ftp://user:pass-word@node/'];
    const { status, value, error } = await json('network', 'add', ...args);
    expect({ status, value }).toEqual({ status: 1, value: undefined });
    expect(error?.message).toMatch(/serves chain 31337, not 77\. Use the URL of a node of this network/);
    expect(error?.message).toMatch(/Check that the node runs/);
    expect(error?.message).toMatch(/it must begin with http/);
    expect(error?.message).toMatch(/\nNothing was changed\.$/);
    expect(error?.message).not.toMatch(hidden);
    expect((await run('network', 'show', '77')).status).toBe(2);
  });

  test.for([
    [['01', ...named], 'A chain id is decimal, such as 137.'],
    [['0x1', ...named], 'A chain id is decimal, such as 137.'],
    [['77', '--name', 'x'], 'A new network needs --name, --symbol and at least one --rpc.'],
    [['77', ...named, '--rpc', 'http://a', '--rpc', 'http://a'], '--rpc names the same URL twice.'],
    [
      ['77', ...named, '--rpc', 'http://a', '--finality', '3', '--confirmations', '4'],
      '--finality (3) must not be below --confirmations (4): give both.',
    ],
    [['77', ...named, '--provider', 'other'], 'Allowed choices are moralis, indexer.'],
    [['77', ...named, '--index-traces', 'all'], 'Allowed choices are none, debug, trace.'],
    [['77', ...named, '--index-from', '-1'], 'whole number from 0'],
    [['77', ...named, '--decimals', '78'], 'whole number from 0 to 77'],
    [['77', ...named, '--minter-contract', '0x12'], 'It must be 0x and 40 hex digits'],
    [['77', ...named, '--wrapped-native', '0x12'], 'It must be 0x and 40 hex digits'],
  ] as const)('refuses %j', async ([args, message], { json }) => {
    const { status, error } = await json('network', 'add', ...args);
    expect(status).toBe(2);
    expect(error?.message).toContain(message);
  });
});

describe('network status', () => {
  test('says of each node what is wrong, since when the service knows it, and what it shows now', async ({
    chain,
    db,
    run,
  }) => {
    const gone = `http://127.0.0.1:${await freePort()}`;
    await run('network', 'add', '31337', ...named, '--rpc', chain.rpcUrl);
    await db('networks')
      .where({ chain_id: 31337 })
      .update({ rpc_urls: [secretUrl, gone] });
    const since = new Date('2026-01-02T03:04:05.000Z');
    await db('node_states').insert([
      { chain_id: 31337, node: `${node.url}/[redacted]`, state: 'lagging', reason: 'far behind', since },
      { chain_id: 31337, node: gone, state: 'usable', reason: '', since },
    ]);
    const { status, out, err } = await run('network', 'status', '31337', '--json');
    expect([status, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual([
      {
        chainId: '31337',
        node: `${node.url}/[redacted]`,
        state: 'lagging',
        reason: 'far behind',
        since: since.toISOString(),
        head: '0',
        behind: '0',
        ageSeconds: expect.any(Number),
        finalized: '0',
      },
      {
        chainId: '31337',
        node: gone,
        state: 'failing',
        reason: 'ECONNREFUSED',
        since: null,
        head: null,
        behind: null,
        ageSeconds: null,
        finalized: null,
      },
    ]);
    expect((await run('network', 'status')).out).toMatch(/^CHAIN +NODE +STATE +SINCE +HEAD +BEHIND/);
  });

  test('refuses a network that is not registered', async ({ run }) => {
    expect(await run('network', 'status', '5')).toMatchObject({
      err: 'There is no network 5. List them with: tallystick network list\n',
    });
  });
});

describe('network list and show', () => {
  test('show of the URLs of nodes only the hosts', async ({ run, json }) => {
    const list = await run('network', 'list');
    expect(list.out.split('\n')[0]).toMatch(
      /^CHAIN ID +HEX +NAME +CURRENCY +PROVIDER +CONFIRMATIONS +NODES$/,
    );
    expect(list.out).toMatch(/^31337 +0x7a69 +Local +ETH +indexer +12 +http/m);
    const { value } = await json('network', 'list');
    expect(value).toMatchObject([{ chainId: '31337', name: 'Local', minterContract: minter }]);
    expect((await json('network', 'show', '31337')).value).toEqual(value[0]);
    expect(list.out + JSON.stringify(value)).not.toMatch(hidden);
  });

  test.for(['1', '0x7a69', 'x'])('say how to find a network when %s is none', async (chainId, { run }) => {
    expect(await run('network', 'show', chainId)).toEqual({
      status: 2,
      out: '',
      err: `There is no network ${chainId}. List them with: tallystick network list\n`,
    });
  });
});

describe('network update', () => {
  test('changes what is given and keeps the rest', async ({ json }) => {
    const first = await json('network', 'update', '31337', '--symbol', 'TST', '--confirmations', '2');
    expect(first).toMatchObject({
      status: 0,
      notes: [],
      value: { currencySymbol: 'TST', currencyName: 'ETH', confirmations: 2, minterContract: minter },
    });
    const second = await json('network', 'update', '31337', '--minter-contract', '', '--provider', 'moralis');
    expect(second.value).toMatchObject({
      currencySymbol: 'TST',
      minterContract: null,
      dataProvider: 'moralis',
    });
  });

  test('takes several wrapped native tokens, or none', async ({ json }) => {
    const change = (...values: string[]) =>
      json('network', 'update', '31337', ...values.flatMap((value) => ['--wrapped-native', value]));
    expect((await change(wrapped, minter)).value).toMatchObject({ wrappedNatives: [wrapped, minter] });
    expect((await change('')).value).toMatchObject({ wrappedNatives: [] });
  });

  test('takes a block explorer without its slash, or none', async ({ json, run }) => {
    const change = (url: string) => json('network', 'update', '31337', '--explorer-url', url);
    const explorerUrl = 'https://explorer.example/base';
    expect((await change(`${explorerUrl}/`)).value).toMatchObject({ explorerUrl });
    expect((await change('')).value).toMatchObject({ explorerUrl: null });
    for (const url of ['ftp://x.example', 'https://x.example/?a=1', 'https://x.example/#a', 'x']) {
      expect((await run('network', 'update', '31337', '--explorer-url', url)).status).toBe(2);
    }
  });

  test('takes the least tip in gwei', async ({ json, run }) => {
    const change = async (gwei: string) =>
      (await json('network', 'update', '31337', '--min-tip', gwei)).value;
    expect(await change('0.1')).toMatchObject({ minTip: '100000000' });
    expect(await change('25')).toMatchObject({ minTip: '25000000000' });
    for (const wrong of ['-1', '1e3', 'x', '0.0000000001']) {
      expect((await run('network', 'update', '31337', '--min-tip', wrong)).status).toBe(2);
    }
    expect(await change('0')).toMatchObject({ minTip: '0' });
  });

  test('asks new nodes first', async ({ chain, json }) => {
    const refused = await json('network', 'update', '31337', '--rpc', `http://127.0.0.1:${await freePort()}`);
    expect(refused).toMatchObject({ status: 1, value: undefined });
    const changed = await json('network', 'update', '31337', '--rpc', chain.rpcUrl);
    expect(changed).toMatchObject({ status: 0, value: { rpcUrls: [chain.rpcUrl] } });
  });

  test.for([
    [['31337'], 'Nothing to change: give an option.'],
    [['31337', '--finality', '1'], '--finality (1) must not be below --confirmations (2): give both.'],
    [['1', '--name', 'x'], 'There is no network 1. List them with: tallystick network list'],
  ] as const)('refuses %j', async ([args, message], { json }) => {
    const { status, error } = await json('network', 'update', ...args);
    expect(status).toBe(2);
    expect(error?.message).toBe(message);
  });
});

describe('network remove', () => {
  test('keeps a network that an event names', async ({ db, json }) => {
    await db('events').insert({ company_id: 'acme', name: 'Tasting', chain_id: 31337 });
    const { status, error } = await json('network', 'remove', '31337');
    expect(status).toBe(1);
    expect(error?.message).toBe('Network 31337 stays: events or RWAs name it. Nothing was changed.');
    await db('events').delete();
  });

  test('removes any other', async ({ db, run, json }) => {
    expect((await json('network', 'remove', '31337')).value).toEqual({ chainId: '31337', removed: true });
    expect((await json('network', 'list')).value).toEqual([]);
    expect((await run('network', 'list')).out).toBe('(none)\n');
    expect((await run('network', 'remove', '31337')).status).toBe(2);
    expect(await auditedActions(db)).toEqual(['network.add', 'network.remove', 'network.update']);
  });
});
