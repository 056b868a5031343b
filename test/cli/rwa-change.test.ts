import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { addCompany, addNetwork, addRwa, contractAddress } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { test } from './fixtures.ts';

test.beforeAll(async ({ chain, db }) => {
  await addNetwork(db, chain.chainId, chain.rpcUrl);
  await addNetwork(db, '31338');
  // Nothing is minted on this network: that there is a contract is enough.
  await callNode(chain.rpcUrl, 'anvil_setCode', [contractAddress, '0x00']);
  await addCompany(db, 'acme');
});

describe('rwa update', () => {
  const entriesOf = (db: Knex, subject: string) =>
    db('audit_log').where({ subject }).orderBy('id').select('action', 'details');

  test('changes what is given and nothing else, and leaves an entry with the names', async ({ db, json }) => {
    const given = { price: '10.00', currency: 'EUR', data: { litres: 220 }, description: 'Old' };
    const before = await addRwa(db, 'acme', given);
    const { status, value, notes } = await json(
      ...['rwa', 'update', before.id, '--price', '12.50', '--no-description', '--is-buyable'],
      ...['--data', '{"litres":221}', '--name', 'Cask 18', '--image-url', 'https://acme.example/18.png'],
      ...['--claim-base-url', 'https://acme.example/c', '--currency', 'EUR'],
    );
    expect([status, notes]).toEqual([0, []]);
    const changed = {
      price: '12.50',
      description: null,
      isBuyable: true,
      data: { litres: 221 },
      name: 'Cask 18',
      imageUrl: 'https://acme.example/18.png',
      claimBaseUrl: 'https://acme.example/c',
    };
    const {
      number: _,
      updatedAt,
      totalNfts: __,
      claimedNfts: ___,
      ownClaimBaseUrl: ____,
      createdAt,
      ...same
    } = before;
    expect(value).toMatchObject({ ...same, ...changed, createdAt: createdAt.toISOString() });
    expect(value.updatedAt > updatedAt.toISOString()).toBe(true);
    const fields = ['name', 'description', 'imageUrl', 'isBuyable', 'price', 'data', 'claimBaseUrl'];
    expect(await entriesOf(db, before.id)).toEqual([{ action: 'rwa.update', details: { fields } }]);
  });

  test('checks what is given together with what stays', async ({ db, json }) => {
    const { id } = await addRwa(db, 'acme', { price: '10.00', currency: 'EUR' });
    const { status, error } = await json('rwa', 'update', id, '--no-currency', '--image-url', 'ftp://x');
    expect(status).toBe(2);
    expect(error?.message.split('\n')).toEqual([
      '--image-url must be an http(s) URL.',
      '--currency is needed with a price.',
    ]);
    expect((await json('rwa', 'update', id, '--no-currency', '--no-price')).value).toMatchObject({
      price: null,
      currency: null,
    });
    expect(await entriesOf(db, id)).toHaveLength(1);
  });

  test.for([
    ['--chain', '31337'],
    ['--contract-address', contractAddress],
  ] as const)('changes %s before the first NFT only', async ([...args], { db, json }) => {
    const { id } = await addRwa(db, 'acme', { chainId: 31338, contractAddress: `0x${'2'.repeat(40)}` });
    const change = ['rwa', 'update', id, ...args, '--offline', '--name', 'Other'] as const;
    await db('rwas').where({ id }).update({ last_serial: 1, total_nfts: 1 });
    const { status, error } = await json(...change);
    expect(status).toBe(2);
    expect(error?.message).toContain(`${args[0]} cannot change: the RWA has NFTs`);
    expect((await json('rwa', 'show', id)).value.name).toBe('Cask 17');
    await db('rwas').where({ id }).update({ last_serial: 0, total_nfts: 0 });
    const { value } = await json(...change);
    expect(value).toMatchObject({ name: 'Other' });
    expect([value.chainId, value.contractAddress]).toContain(args[1]);
  });

  test('asks the network about the contract before an RWA becomes claimable', async ({ db, json }) => {
    const { id } = await addRwa(db, 'acme', { contractAddress: `0x${'1'.repeat(40)}` });
    const refused = await json('rwa', 'update', id, '--is-claimable');
    expect(refused.status).toBe(2);
    expect(refused.error?.message).toMatch(/^--contract-address: There is no contract at 0x1/);
    const { value, notes } = await json('rwa', 'update', id, '--is-claimable', '--offline');
    expect(value.isClaimable).toBe(true);
    expect(notes).toHaveLength(1);
  });

  test('says when nothing was given, and when nothing is other than before', async ({ db, json }) => {
    const { id, updatedAt } = await addRwa(db, 'acme');
    expect((await json('rwa', 'update', id)).error?.message).toMatch(/^Nothing to change was given/);
    const { value, notes } = await json('rwa', 'update', id, '--name', 'Cask 17', '--no-is-buyable');
    expect(notes).toEqual(['It was so already: nothing has changed.']);
    expect(value.updatedAt).toBe(updatedAt.toISOString());
    expect(await entriesOf(db, id)).toEqual([]);
    expect((await json('rwa', 'update', randomUUID(), '--name', 'x')).status).toBe(2);
  });
});

describe('rwa archive and unarchive', () => {
  test('take an RWA out of the list and put it back, once, with an entry each', async ({ db, run, json }) => {
    await addCompany(db, 'archivist');
    const { id } = await addRwa(db, 'archivist', { name: 'Kept' });
    const list = ['rwa', 'list', '--company', 'archivist'];
    const { value } = await json('rwa', 'archive', id);
    expect(value.archivedAt).toMatch(/^\d{4}-.*Z$/);
    expect((await json(...list)).value).toEqual([]);
    expect((await json(...list, '--include-archived')).value).toMatchObject([{ id }]);
    expect((await run(...list, '--include-archived')).out).toMatch(/CLAIMED +ARCHIVED$/m);
    const again = await json('rwa', 'archive', id);
    expect(again.notes).toEqual(['It was so already: nothing has changed.']);
    expect(again.value.archivedAt).toBe(value.archivedAt);
    expect((await json('rwa', 'unarchive', id)).value.archivedAt).toBeNull();
    expect((await json(...list)).value).toMatchObject([{ id }]);
    expect(await db('audit_log').where({ subject: id }).orderBy('id').pluck('action')).toEqual([
      'rwa.archive',
      'rwa.unarchive',
    ]);
    expect((await json('rwa', 'archive', randomUUID())).status).toBe(2);
  });
});
