import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { encryptKeystoreJson, id, Transaction, Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { callNode } from '../support/deploy.ts';
import { perFile } from '../support/fixtures.ts';
import { keystoreSettings } from '../support/keystore-settings.ts';
import { makeFolder } from '../support/made-folder.ts';
import { of } from '../support/node/flaw.ts';
import { tipFloor } from '../support/node/limits.ts';
import { startNode } from '../support/node/node.ts';
import { refusesBroadcasts } from '../support/node/wrongs.ts';
import type { CommandLine } from './command-line.ts';
import { auditedActions, commandLine, settingsFor } from './command-line.ts';
import { test as base } from './fixtures.ts';

const test = base
  .extend('settings', perFile, ({ databaseUrl }) => ({
    ...settingsFor(databaseUrl),
    PUBLIC_BASE_URL: 'https://api.example',
  }))
  .extend('thrifty', perFile, ({ settings }) => commandLine({ ...settings, MINT_MAX_FEE_GWEI: '2' }))
  // Between the commands and the chain.
  .extend('node', perFile, async ({ chain }, { onCleanup }) => {
    const node = await startNode(chain.rpcUrl);
    onCleanup(() => node.close());
    return node;
  });
const admin = new Wallet(Wallet.createRandom().privateKey);
const signer = Wallet.createRandom().address;
const directory = await makeFolder();
const named = ['--name', 'C', '--symbol', 'C'];
const keys = ['--keystore', path.join(directory, 'a.json'), '--password-file', path.join(directory, 'p')];

test.beforeAll(async ({ db, chain, node, run }) => {
  await callNode(chain.rpcUrl, 'anvil_setBalance', [admin.address, '0x56bc75e2d63100000']);
  // The weakest scrypt there is: the test is not about that.
  const keystore = await encryptKeystoreJson(admin, 'pass', { scrypt: { N: 2, r: 8, p: 1 } });
  writeFileSync(path.join(directory, 'a.json'), keystore);
  writeFileSync(path.join(directory, 'p'), 'pass\n');
  const local = ['--name', 'Local', '--symbol', 'ETH', '--rpc', node.url, '--provider', 'moralis'];
  await run('network', 'add', '31337', ...local);
  await db('mint_lanes').insert({ chain_id: 31337, signer });
});

test.afterEach(({ node }) => node.setFlaws());

const deploy = async (json: CommandLine['json']): Promise<string> =>
  (await json('contract', 'deploy', '31337', '--name', 'Casks', '--symbol', 'CASK', ...keys)).value.contract;
const stateOf = (checks: { check: string; state: string }[], name: string) =>
  checks.find(({ check }) => check.startsWith(name))?.state;

describe('contract deploy', () => {
  test('makes a contract whose metadata are ours and whose admin is the key', async ({ json }) => {
    const { status, value } = await json('contract', 'deploy', '31337', ...named, ...keys);
    expect(status).toBe(0);
    expect(value).toEqual({
      chainId: '31337',
      contract: expect.stringMatching(/^0x/),
      admin: admin.address,
      metadata: `https://api.example/v1/api/metadata/31337/${value.contract}/`,
    });
  });

  test('says where the contract is when its tokens could not be told of their metadata', async ({
    node,
    run,
  }) => {
    const seen: Record<string, number> = {};
    const timesAsked = (method: string) => {
      seen[method] = (seen[method] ?? 0) + 1;
      return seen[method];
    };
    node.setFlaws(({ method }) => {
      // That the first look fails tells nothing of what was sent.
      const isRefused =
        (method === 'eth_getTransactionReceipt' && timesAsked(method) === 1) ||
        (method === 'eth_sendRawTransaction' && timesAsked(method) > 1);
      return isRefused ? { error: { code: -32000, message: 'insufficient funds for gas' } } : undefined;
    });
    const { status, err } = await run('contract', 'deploy', '31337', ...named, ...keys);
    expect(status).toBe(1);
    expect(err).toMatch(
      /^The contract is deployed, at (0x\w{40}), but .*The nodes reject transaction 0x\w{64}: insufficient funds .*\s.*tallystick contract set-base-uri 31337 \1\n$/s,
    );
  });

  test('says when the network is not registered', async ({ run }) => {
    expect(await run('contract', 'deploy', '5', ...named, ...keys)).toMatchObject({
      status: 2,
      err: 'There is no network 5. List them with: tallystick network list\n',
    });
  });
});

describe('contract grant and status', () => {
  test('show that a signer may mint, and before it that it may not', async ({ json }) => {
    const contract = await deploy(json);
    const before = await json('contract', 'status', '31337', contract);
    expect([before.status, stateOf(before.value, 'minter')]).toEqual([1, 'FAULT']);
    await json('contract', 'grant', '31337', contract, signer, ...keys);
    const after = await json('contract', 'status', '31337', contract);
    expect(after.value.map(({ state }: { state: string }) => state)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(after.status).toBe(0);
  });

  test('examine the keystores of MINT_SIGNERS before a worker has started with them', async ({
    json,
    settings,
  }) => {
    const contract = await deploy(json);
    const named = Wallet.createRandom();
    const own = { ...settings, ...(await keystoreSettings('31337', named.privateKey)) };
    const { value } = await commandLine(own).json('contract', 'status', '31337', contract);
    expect(stateOf(value, `minter ${named.address}`)).toBe('FAULT');
    await json('contract', 'grant', '31337', contract, named.address, ...keys);
    const granted = await commandLine(own).json('contract', 'status', '31337', contract);
    expect(stateOf(granted.value, `minter ${named.address}`)).toBe('ok');
  });

  test('name a signer of MINT_SIGNERS that cannot be read here', async ({ json, settings }) => {
    const contract = await deploy(json);
    const own = {
      ...settings,
      ...(await keystoreSettings('31337', Wallet.createRandom().privateKey)),
      MINT_SIGNERS: '31337=keystore:/nowhere/minter.json',
    };
    const { err } = await commandLine(own).run('contract', 'status', '31337', contract);
    expect(err).toContain('The address of /nowhere/minter.json in MINT_SIGNERS cannot be read');
  });

  test("takes the network's own contract when none is named", async ({ run, json }) => {
    expect((await run('contract', 'status', '31337')).err).toContain('has no minter contract');
    const contract = await deploy(json);
    await run('network', 'update', '31337', '--minter-contract', contract);
    expect((await json('contract', 'status', '31337')).value).toHaveLength(4);
  });

  test('say when there is no contract', async ({ json }) => {
    const { status, value } = await json('contract', 'status', '31337', signer);
    expect([status, value]).toEqual([1, [expect.objectContaining({ check: 'code', state: 'FAULT' })]]);
  });

  test('refuse the admin as a signer: a hot key must not administer', async ({ run, json }) => {
    const contract = await deploy(json);
    const { status, err } = await run('contract', 'grant', '31337', contract, admin.address, ...keys);
    expect([status, err]).toEqual([2, 'The admin must not be a signer: use another key.\n']);
  });
});

describe('what an admin sends', () => {
  const gwei = 10n ** 9n;
  const inHex = (wei: bigint) => `0x${wei.toString(16)}`;

  test('pays the tip that a node names, up to the cap', async ({ node, json, thrifty }) => {
    const contract = await deploy(json);
    node.forget();
    const least = gwei;
    const suggestsLess = of('eth_maxPriorityFeePerGas', () => ({ result: inHex(least / 2n) }));
    node.setFlaws(suggestsLess, tipFloor({ least, say: () => `tip needed ${least}` }));
    expect((await thrifty.json('contract', 'grant', '31337', contract, signer, ...keys)).status).toBe(0);
    expect(node.count('eth_sendRawTransaction')).toBe(2);
    node.setFlaws(refusesBroadcasts(`tip needed ${3n * gwei}`));
    const { status, err } = await thrifty.run('contract', 'revoke', '31337', contract, signer, ...keys);
    expect([status, err]).toEqual([1, expect.stringMatching(/tip needed 3000000000\. .*MINT_MAX_FEE_GWEI/)]);
  });

  test('is reported at once when nodes reject it, without the transaction itself', async ({
    node,
    json,
    run,
  }) => {
    const contract = await deploy(json);
    node.forget();
    node.setFlaws(refusesBroadcasts('never'));
    const { status, err } = await run('contract', 'grant', '31337', contract, signer, ...keys);
    expect(node.count('eth_sendRawTransaction')).toBe(1);
    expect([status, err.length < 400, err]).toEqual([
      1,
      true,
      expect.stringMatching(/^The nodes reject transaction 0x\w{64}: never\. .*--min-tip/),
    ]);
  });

  /** Suggests this priority fee. */
  const suggests = (tip: bigint) => of('eth_maxPriorityFeePerGas', () => ({ result: inHex(tip) }));

  test('is refused above MINT_MAX_FEE_GWEI, whatever a node suggests, and says what to do', async ({
    node,
    json,
    run,
  }) => {
    const contract = await deploy(json);
    node.forget();
    node.setFlaws(suggests(100_000n * gwei));
    const uri = ['--base-uri', 'https://metadata.example/'];
    const commands = [
      ['deploy', '31337', ...named],
      ['grant', '31337', contract, signer],
      ['revoke', '31337', contract, signer],
      ['set-base-uri', '31337', contract, ...uri],
    ];
    for (const command of commands) {
      const { status, err } = await run('contract', ...command, ...keys);
      expect([status, err]).toEqual([
        1,
        expect.stringMatching(
          /gas costs 10000\d\S* gwei, and MINT_MAX_FEE_GWEI allows 500\. .* higher MINT_MAX_FEE_GWEI\./,
        ),
      ]);
    }
    expect(node.count('eth_sendRawTransaction')).toBe(0);
  });

  test('offers no more than MINT_MAX_FEE_GWEI below it, and the tip that a node suggests', async ({
    chain,
    node,
    json,
  }) => {
    const contract = await deploy(json);
    node.forget();
    node.setFlaws(suggests(490n * gwei));
    await callNode(chain.rpcUrl, 'anvil_setNextBlockBaseFeePerGas', [inHex(8n * gwei)]);
    await callNode(chain.rpcUrl, 'anvil_mine', ['0x1']);
    expect((await json('contract', 'grant', '31337', contract, signer, ...keys)).status).toBe(0);
    const sent = node.asked.filter(({ method }) => method === 'eth_sendRawTransaction');
    const transactions = sent.map(({ params: [raw] }) => Transaction.from(String(raw)));
    expect(
      transactions.map(({ maxFeePerGas, maxPriorityFeePerGas }) => [maxFeePerGas, maxPriorityFeePerGas]),
    ).toEqual([[500n * gwei, 490n * gwei]]);
  });
});

describe('contract revoke', () => {
  test('takes from a signer what grant gave it, and says what to do next', async ({ json, run }) => {
    const contract = await deploy(json);
    await json('contract', 'grant', '31337', contract, signer, ...keys);
    const { status, out, err } = await run('contract', 'revoke', '31337', contract, signer, ...keys);
    expect([status, err.split('\n')]).toEqual([
      0,
      [
        'Take it out of MINT_SIGNERS of every worker, and stop its lane, which nobody serves then:',
        `tallystick mint pause --chain 31337 --signer ${signer}`,
        '',
      ],
    ]);
    expect(out).toContain(signer);
    const checks = await json('contract', 'status', '31337', contract);
    expect([checks.status, stateOf(checks.value, 'minter')]).toEqual([1, 'FAULT']);
  });
});

test('refresh sends one BatchMetadataUpdate of all tokens', async ({ db, chain, json }) => {
  const contract = await deploy(json);
  const { status, value } = await json('contract', 'refresh', '31337', contract, ...keys);
  expect(status).toBe(0);
  const { logs } = await callNode<{ logs: { address: string; topics: string[]; data: string }[] }>(
    chain.rpcUrl,
    'eth_getTransactionReceipt',
    [value.hash],
  );
  expect(logs).toMatchObject([
    {
      address: contract.toLowerCase(),
      topics: [id('BatchMetadataUpdate(uint256,uint256)')],
      data: `0x${'0'.repeat(64)}${'f'.repeat(64)}`,
    },
  ]);
  expect(await auditedActions(db)).toEqual(
    expect.arrayContaining(['contract.refresh_asked', 'contract.refresh']),
  );
});

test('what was done on the chain is told by the audit log', async ({ db, json }) => {
  const contract = await deploy(json);
  const uri = ['--base-uri', 'https://metadata.example/'];
  const { status } = await json('contract', 'set-base-uri', '31337', contract, ...uri, ...keys);
  expect(status).toBe(0);
  expect(await auditedActions(db)).toEqual(
    expect.arrayContaining([
      ...['contract.deploy_asked', 'contract.grant_asked', 'contract.revoke_asked'],
      ...['contract.deploy', 'contract.grant', 'contract.revoke'],
      ...['contract.set_base_uri_asked', 'contract.set_base_uri'],
    ]),
  );
  const last = await db('audit_log').where('action', 'contract.set_base_uri').orderBy('id', 'desc').first();
  expect(last).toMatchObject({ subject: contract, details: { hash: expect.stringMatching(/^0x/) } });
});

test('nothing is done on the chain unless the audit log has that it was asked for', async ({
  db,
  json,
  run,
}) => {
  const contract = await deploy(json);
  const other = Wallet.createRandom().address;
  await db.raw(`ALTER TABLE audit_log ADD CONSTRAINT out_of_order
    CHECK (action NOT LIKE 'contract.grant%') NOT VALID`);
  const { status } = await run('contract', 'grant', '31337', contract, other, ...keys);
  await db.raw('ALTER TABLE audit_log DROP CONSTRAINT out_of_order');
  expect(status).not.toBe(0);
  await db('mint_lanes').insert({ chain_id: 31337, signer: other });
  const checks: { check: string; state: string }[] = (await json('contract', 'status', '31337', contract))
    .value;
  expect(checks.filter(({ check }) => check.startsWith('minter')).map(({ state }) => state)).toEqual([
    'FAULT',
    'FAULT',
  ]);
});
