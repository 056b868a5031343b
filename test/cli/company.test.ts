import { describe, expect } from 'vitest';
import { addNetwork, addRwa, contractAddress } from '../rwa/samples.ts';
import { test } from './fixtures.ts';

const treasury = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

describe('company create', () => {
  test('registers a company and shows it, field by field', async ({ run }) => {
    const { status, out, err } = await run('company', 'create', 'acme', '--treasury', treasury.toLowerCase());
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^id {15}[0-9a-f-]{36}$/m);
    expect(out).toMatch(/^name {13}acme$/m);
    expect(out).toMatch(new RegExp(`^treasuryAddress {2}${treasury}$`, 'm'));
    expect(out).toMatch(/^claimBaseUrl {5}-$/m);
  });

  test('takes the id that an authentication service gave it', async ({ json }) => {
    const { status, value, notes } = await json('company', 'create', ' globex ', '--id', 'org_42');
    expect(status).toBe(0);
    expect(notes).toEqual([
      'It has no treasury, so each mint needs a recipient. Set one: tallystick company update org_42 --treasury <address>',
    ]);
    expect(value).toMatchObject({ id: 'org_42', name: 'globex', treasuryAddress: null, claimBaseUrl: null });
    expect(value.createdAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  test.for([[['other', '--id', 'org_42']], [['globex']]] as const)(
    'refuses an id or a name that is taken: %j',
    async ([args], { json }) => {
      const { status, value, error } = await json('company', 'create', ...args);
      expect({ status, value }).toEqual({ status: 2, value: undefined });
      expect(error).toEqual({
        exitCode: 2,
        message: 'A company of this id or name exists already. List them with: tallystick company list',
      });
    },
  );

  test.for([
    [['']],
    [['x'.repeat(256)]],
    [['a', '--id', '']],
    [['a', '--treasury', '0x12']],
    [['a', '--treasury', `0x${'aB'.repeat(20)}`]],
    [['a', '--treasury', `0x${'0'.repeat(40)}`]],
    [['a', '--claim-url', 'javascript:alert(1)']],
    [['a', '--display-name', '\u200b\u2060']],
    [['a', '--display-name', 'x'.repeat(256)]],
    [['a', 'b']],
    [[]],
  ] as const)('refuses %j and points to its help', async ([args], { run }) => {
    const { status, out, err } = await run('company', 'create', ...args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(/^error: .+\nSee: tallystick company create --help\n$/);
  });
});

describe('company list', () => {
  test('shows all by name, without borders', async ({ run }) => {
    const { status, out } = await run('company', 'list');
    expect(status).toBe(0);
    expect(out.split('\n')[0]).toMatch(/^ID +NAME +DISPLAY NAME +TREASURY +CLAIM PAGE$/);
    expect(out.match(/acme|globex/g)).toEqual(['acme', 'globex']);
  });

  test('says when there are more, and goes on after one of them', async ({ json }) => {
    const { value, notes } = await json('company', 'list', '--limit', '1');
    expect(value).toMatchObject([{ name: 'acme' }]);
    expect(notes).toEqual([`There are more: add --after ${value[0].id}`]);
    for (const after of [value[0].id, 'acme']) {
      const second = await json('company', 'list', '--limit', '1', '--after', after);
      expect(second.value).toMatchObject([{ name: 'globex' }]);
      expect(second.notes).toEqual([]);
    }
    for (const bad of [
      ['--after', 'nobody'],
      ['--limit', '0'],
    ])
      expect((await json('company', 'list', ...bad)).status).toBe(2);
  });
});

describe('company show', () => {
  test.for(['globex', 'org_42'])('finds a company by %s', async (word, { json }) => {
    expect((await json('company', 'show', word)).value).toMatchObject({ id: 'org_42', name: 'globex' });
  });

  test('says how to find one when there is none', async ({ run }) => {
    expect(await run('company', 'show', 'nobody')).toEqual({
      status: 2,
      out: '',
      err: 'There is no company "nobody". List them with: tallystick company list\n',
    });
  });
});

describe('company update', () => {
  test('changes what is given and keeps the rest', async ({ json }) => {
    const changed = await json('company', 'update', 'acme', '--claim-url', 'https://acme.example/claim');
    expect(changed.value).toMatchObject({
      name: 'acme',
      treasuryAddress: treasury,
      claimBaseUrl: 'https://acme.example/claim',
    });
    const renamed = await json('company', 'update', 'acme', '--name', 'acme ltd');
    expect(renamed.value).toMatchObject({ name: 'acme ltd', claimBaseUrl: 'https://acme.example/claim' });
  });

  test('sets the name that customers read', async ({ json }) => {
    const set = await json('company', 'update', 'acme ltd', '--display-name', ' Acme Casks ');
    expect(set.value).toMatchObject({ name: 'acme ltd', displayName: 'Acme Casks' });
    expect((await json('company', 'show', 'acme ltd')).value.displayName).toBe('Acme Casks');
    const listed = (await json('company', 'list')).value;
    expect(listed).toMatchObject([{ displayName: 'Acme Casks' }, { displayName: null }]);
    const cleared = await json('company', 'update', 'acme ltd', '--display-name', '');
    expect(cleared.value.displayName).toBeNull();
  });

  test('clears a field with an empty text', async ({ json }) => {
    const { value } = await json('company', 'update', 'acme ltd', '--claim-url', '', '--treasury', '');
    expect(value).toMatchObject({ treasuryAddress: null, claimBaseUrl: null });
  });

  test('refuses the zero address as treasury, to which nothing can be minted', async ({ run, json }) => {
    const { status, err } = await run('company', 'update', 'acme ltd', '--treasury', `0x${'0'.repeat(40)}`);
    expect(status).toBe(2);
    expect(err).toContain('It must not be the zero address.');
    expect((await json('company', 'show', 'acme ltd')).value.treasuryAddress).toBeNull();
  });

  test('refuses an NFT contract and a reserved address as treasury', async ({ db, run, json }) => {
    await addNetwork(db);
    await addRwa(db, 'org_42');
    const reserved = `0x${'1'.padStart(40, '0')}`;
    for (const [address, what] of [
      [contractAddress, 'an NFT contract of the service'],
      [reserved, 'reserved for contracts of the network'],
    ] as const) {
      for (const args of [
        ['update', 'acme ltd'],
        ['create', 'initech'],
      ]) {
        const { status, err } = await run('company', ...args, '--treasury', address.toLowerCase());
        expect(status).toBe(2);
        expect(err).toBe(`No NFT can be minted to ${address}: it is ${what}. Set another: --treasury.\n`);
      }
    }
    expect((await json('company', 'show', 'acme ltd')).value.treasuryAddress).toBeNull();
    expect((await run('company', 'show', 'initech')).status).toBe(2);
  });

  test.for([
    [['acme ltd'], 'Nothing to change: give an option.'],
    [['nobody', '--name', 'x'], 'There is no company "nobody". List them with: tallystick company list'],
    [
      ['acme ltd', '--name', 'globex'],
      'A company of this id or name exists already. List them with: tallystick company list',
    ],
  ] as const)('refuses %j', async ([args, message], { json }) => {
    const { status, error } = await json('company', 'update', ...args);
    expect(status).toBe(2);
    expect(error).toEqual({ exitCode: 2, message });
  });
});
