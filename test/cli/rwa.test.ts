import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished } from 'vitest';
import { addCompany, addNetwork, addRwa, contractAddress } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { test } from './fixtures.ts';

test.beforeAll(async ({ chain, db }) => {
  await addNetwork(db, chain.chainId, chain.rpcUrl);
  // Nothing is minted on this network: that there is a contract is enough.
  await callNode(chain.rpcUrl, 'anvil_setCode', [contractAddress, '0x00']);
  await addCompany(db, 'acme');
  await addCompany(db, 'globex');
});

const least = ['--company', 'acme', '--name', 'Cask 17', '--type', 'whisky', '--chain', '31337'];
const whole = [...least, '--contract-address', contractAddress.toLowerCase()];

describe('rwa create', () => {
  test('makes an RWA with everything that was given', async ({ db, run, json }) => {
    const { status, value } = await json(
      ...['rwa', 'create', ...whole, '--is-claimable', '--price', '12345678901234567890.10'],
      ...['--currency', 'EUR', '--data', '{"litres":220}', '--description', 'From 1998'],
      ...['--image-url', 'https://acme.example/17.png', '--claim-base-url', 'https://acme.example/claim'],
      '--claim-page',
    );
    expect(status).toBe(0);
    expect(value).toMatchObject({
      companyId: 'acme',
      companyName: 'acme',
      name: 'Cask 17',
      type: 'whisky',
      chainId: '31337',
      contractAddress,
      isBuyable: false,
      isClaimable: true,
      price: '12345678901234567890.10',
      currency: 'EUR',
      data: { litres: 220 },
      description: 'From 1998',
      imageUrl: 'https://acme.example/17.png',
      claimPage: true,
      claimBaseUrl: 'https://acme.example/claim',
      totalNfts: 0,
      claimedNfts: 0,
    });
    const shown = await run('rwa', 'show', value.id);
    expect(shown.out).toMatch(/^data +\{"litres":220\}$/m);
    expect((await json('rwa', 'show', value.id)).value).toEqual(value);
    expect(await db('audit_log').select('action', 'subject')).toContainEqual({
      action: 'rwa.create',
      subject: value.id,
    });
  });

  test('names each option at fault, and does not begin', async ({ json }) => {
    const { status, error } = await json(
      ...['rwa', 'create', ...least, '--contract-address', '0x12', '--price', '1,5', '--data', '[1]'],
    );
    expect(status).toBe(2);
    expect(error?.message.split('\n')).toEqual([
      '--contract-address must be 0x and 40 hex digits.',
      '--price must be a decimal number such as 1250.00, not negative.',
      '--data must be a JSON object.',
    ]);
  });

  test.for([
    [['--chain', '77'], 'Network with chainId 77 not found'],
    [['--company', 'nobody'], 'There is no company "nobody". List them with: tallystick company list'],
    [['--price', '1'], '--currency is needed with a price.'],
  ] as const)('refuses %j', async ([args, message], { json }) => {
    const { status, error } = await json('rwa', 'create', ...whole, ...args);
    expect(status).toBe(2);
    expect(error?.message).toBe(message);
  });

  test('says which option is missing', async ({ run }) => {
    const { status, err } = await run('rwa', 'create', '--company', 'acme', '--name', 'Cask 17');
    expect([status, err]).toEqual([
      2,
      "error: required option '--type <type>' not specified\nSee: tallystick rwa create --help\n",
    ]);
  });

  test("takes the network's own contract, or says that there is none", async ({ db, json }) => {
    const none = await json('rwa', 'create', ...least);
    expect([none.status, none.error?.message]).toEqual([
      2,
      '--contract-address is required: network 31337 has no contract of its own.',
    ]);
    const unknown = await json('rwa', 'create', ...least.slice(0, -1), '77');
    expect([unknown.status, unknown.error?.message]).toEqual([
      2,
      'There is no network 77. List them with: tallystick network list',
    ]);
    await db('networks').update({ minter_contract: contractAddress });
    onTestFinished(async () => void (await db('networks').update({ minter_contract: null })));
    const made = await json('rwa', 'create', ...least);
    expect(made).toMatchObject({ status: 0, value: { contractAddress } });
    await db('rwas').where({ id: made.value.id }).delete();
  });
});

describe('rwa list', () => {
  test('shows RWAs by creation, of all companies or of one', async ({ db, run, json }) => {
    await addRwa(db, 'globex', { name: 'First' });
    await addRwa(db, 'globex', { name: 'Second' });
    await addRwa(db, 'globex', { name: 'Third' });
    const { out, err } = await run('rwa', 'list', '--company', 'globex');
    expect(out.split('\n')[0]).toMatch(
      /^ID +COMPANY +NAME +TYPE +CHAIN +BUYABLE +CLAIMABLE +CLAIM PAGE +NFTS +CLAIMED$/,
    );
    expect(out.match(/First|Second|Third/g)).toEqual(['First', 'Second', 'Third']);
    expect(err).toBe('');
    const names = (await json('rwa', 'list')).value.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['Cask 17', 'First', 'Second', 'Third']);
  });

  test('says when there are more, and how to see them', async ({ run, json }) => {
    const page = ['rwa', 'list', '--company', 'globex', '--limit', '2'];
    const first = await json(...page);
    expect(first.value).toMatchObject([{ name: 'First' }, { name: 'Second' }]);
    const last = first.value[1].id;
    expect(first.notes).toEqual([`There are more: add --after ${last}`]);
    for (const on of [
      ['--after', last],
      ['--offset', '2'],
    ]) {
      const second = await json(...page, ...on);
      expect(second.value).toMatchObject([{ name: 'Third' }]);
      expect(second.notes).toEqual([]);
    }
    expect((await run(...page)).err).toBe(`There are more: add --after ${last}\n`);
    const passed = await json('rwa', 'list', '--company', 'globex', '--limit', '1', '--offset', '1');
    expect(passed.notes).toEqual([`There are more: add --after ${last} in place of --offset`]);
    expect(await run(...page, '--after', last, '--offset', '2')).toMatchObject({
      status: 2,
      err: 'Give --after or --offset, not both.\n',
    });
  });

  test('goes on after an RWA, over all companies', async ({ json }) => {
    const { value: all } = await json('rwa', 'list');
    const { value: rest } = await json('rwa', 'list', '--after', all[1].id);
    expect(rest).toEqual(all.slice(2));
  });

  test.for([
    ['--limit', '0'],
    ['--limit', '10001'],
    ['--offset', '-1'],
    ['--after', 'x'],
    ['--after', '0b0f3a52-8f0a-4a2c-9a0e-4f6a7f1f3f55'],
  ] as const)('refuses %s %s', async ([...args], { run }) => {
    expect((await run('rwa', 'list', ...args)).status).toBe(2);
  });
});

describe('rwa show', () => {
  test.for([randomUUID(), 'x', "' OR 1=1"])('says how to find one when %s is none', async (id, { run }) => {
    expect(await run('rwa', 'show', id)).toEqual({
      status: 2,
      out: '',
      err: `There is no RWA ${id}. List them with: tallystick rwa list\n`,
    });
  });

  test('shows what others wrote without letting it steer the terminal', async ({ db, run, json }) => {
    const { id } = await addRwa(db, 'acme', { name: 'Cask\u001b[2J\n17\u202e', type: 'w\u009bx' });
    const shown = await run('rwa', 'show', id);
    expect(shown.out).toMatch(/^name +Cask\\u001b\[2J\\u000a17\\u202e$/m);
    expect(shown.out).toMatch(/^type +w\\u009bx$/m);
    expect((await run('rwa', 'list')).out).toContain('Cask\\u001b[2J\\u000a17\\u202e');
    expect((await json('rwa', 'show', id)).value.name).toBe('Cask\u001b[2J\n17\u202e');
  });
});

describe('rwa claim-page', () => {
  test('lets holders of secrets claim, or no longer, and leaves an entry', async ({ db, json, run }) => {
    const { id } = await addRwa(db, 'acme');
    expect((await json('rwa', 'show', id)).value.claimPage).toBe(false);
    for (const [state, claimPage] of [
      ['on', true],
      ['off', false],
    ] as const) {
      expect((await json('rwa', 'claim-page', id, state)).value).toMatchObject({ id, claimPage });
      expect(await db('audit_log').select('action', 'subject', 'details')).toContainEqual({
        action: 'rwa.claim_page',
        subject: id,
        details: { state },
      });
    }
    expect((await run('rwa', 'claim-page', id, 'maybe')).status).toBe(2);
    expect((await run('rwa', 'claim-page', randomUUID(), 'on')).status).toBe(2);
  });
});
