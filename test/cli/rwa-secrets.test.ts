import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { addCompany, addNetwork, addNft, addNfts, addRwa, vaultOf } from '../rwa/samples.ts';
import { commandLine } from './command-line.ts';
import { test } from './fixtures.ts';

const oldKey = Buffer.alloc(32, 5);
const oldVault = vaultOf(['old'], new Map([['old', oldKey]]));
const withOld = (settings: Readonly<Record<string, string>>) => ({
  ...settings,
  SECRET_KEYS: `${settings['SECRET_KEYS']},old:${oldKey.toString('base64')}`,
});

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme', { claim_base_url: 'https://acme.example/claim' });
});

const addOne = async (db: Database) => (await addNft(db, oldVault, await addRwa(db, 'acme'))).id;

describe('rwa reissue-secret', () => {
  test('gives an NFT a new secret, with which its URL ends', async ({ db, json }) => {
    const nftId = await addOne(db);
    const first = await json('rwa', 'reissue-secret', nftId);
    expect(first.status).toBe(0);
    expect(first.value).toEqual({
      nftId,
      secret: expect.stringMatching(/^[\w-]{32}$/),
      url: `https://acme.example/claim/${nftId}#${first.value.secret}`,
    });
    const second = await json('rwa', 'reissue-secret', nftId);
    expect(second.value.secret).not.toBe(first.value.secret);
    await db('nfts').delete();
  });

  test.for([randomUUID(), 'x'])('says how to find one when %s is none', async (id, { run }) => {
    expect(await run('rwa', 'reissue-secret', id)).toEqual({
      status: 2,
      out: '',
      err: `There is no NFT ${id}. Find its id with: tallystick rwa export <rwaId>\n`,
    });
  });
});

describe('rwa rotate-secrets', () => {
  test('re-encrypts what is under another key, and counts it', async ({ db, settings, run }) => {
    await addNfts(db, oldVault, await addRwa(db, 'acme'), 3);
    const { status, value } = await commandLine(withOld(settings)).json('rwa', 'rotate-secrets');
    expect({ status, value }).toEqual({
      status: 0,
      value: { rotated: 3, failed: [], endpoints: { resealed: 0, failed: [] } },
    });
    expect(await db('nfts').distinct().pluck('secret_key_id')).toEqual(['first']);
    expect((await run('rwa', 'rotate-secrets')).out).toMatch(/^rotated +0\n/);
  });

  test('names what does not open, leaves it and says what to do', async ({ db, settings }) => {
    const nftId = await addOne(db);
    await db('nfts')
      .where({ id: nftId })
      .update({ secret_cipher: Buffer.alloc(60) });
    const { status, value, notes } = await commandLine(withOld(settings)).json('rwa', 'rotate-secrets');
    expect({ status, value }).toEqual({
      status: 1,
      value: { rotated: 0, failed: [nftId], endpoints: { resealed: 0, failed: [] } },
    });
    expect(notes[0]).toContain('tallystick rwa reissue-secret');
  });

  test('refuses to begin without the old key', async ({ json }) => {
    const { status, error } = await json('rwa', 'rotate-secrets');
    expect(status).toBe(1);
    expect(error?.message).toContain('SECRET_KEYS lacks keys that claim secrets are encrypted with: old');
  });

  test('shows its progress to a person who watches', async ({ db, settings }) => {
    await db('nfts').delete();
    await addNfts(db, oldVault, await addRwa(db, 'acme'), 3);
    const { status, err } = await commandLine(withOld(settings), { terminal: true }).run(
      'rwa',
      'rotate-secrets',
    );
    expect(status).toBe(0);
    expect(err).toMatch(/Re-encrypting .*100% \| 3\/3/);
  });
});
