import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { assertKeysKnown, assertKeysOpen, listKeysInUse } from '../../src/rwa/assets/secret-keys-store.ts';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { reissueSecret } from '../../src/rwa/operators/secret-reissue-store.ts';
import { rotateSecrets } from '../../src/rwa/operators/secret-rotation-store.ts';
import { test } from '../support/fixtures.ts';
import { addCompany, addNetwork, addNft, addNfts, addRwa, claimBaseUrl, vaultOf } from './samples.ts';

const keys = new Map(['2025', '2026', '2027'].map((id) => [id, randomBytes(32)]));
const [first, second, both] = [
  vaultOf(['2025'], keys),
  vaultOf(['2026'], keys),
  vaultOf(['2026', '2025'], keys),
];
let rwa: OperatorRwa;

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme', { claim_base_url: 'https://acme.example/claim?lang=en' });
  rwa = await addRwa(db, 'acme');
});

test.beforeEach(({ db }) => db('nfts').delete());

type Sealed = { id: string; secret_cipher: Buffer; secret_key_id: string; updated_at: Date };

const rowsOf = (db: Database): Promise<Sealed[]> => db('nfts').select().orderBy('serial');

async function secretsBy(db: Database, vault: typeof both): Promise<string[]> {
  const open = (row: Sealed) => vault.open(row.id, { cipher: row.secret_cipher, keyId: row.secret_key_id });
  return (await rowsOf(db)).map(open);
}

describe('a copy of the database', () => {
  test('reveals no secret in any column, in any of the usual writings', async ({ db }) => {
    await addNfts(db, first, rwa, 20);
    const secrets = await secretsBy(db, first);
    const dump = JSON.stringify(await db('nfts').select(db.raw('nfts::text AS line')));
    for (const secret of secrets) {
      const bytes = Buffer.from(secret);
      for (const written of [secret, bytes.toString('hex'), bytes.toString('base64')]) {
        expect(dump).not.toContain(written);
      }
    }
  });
});

describe('the keys in use', () => {
  test('are those of the stored secrets, each once', async ({ db }) => {
    expect(await listKeysInUse(db)).toEqual([]);
    await addNfts(db, first, rwa, 3);
    await addNfts(db, both, rwa, 3);
    expect(await listKeysInUse(db)).toEqual(['2025', '2026']);
  });

  test('must all be known: a missing one is named', async ({ db }) => {
    await addNfts(db, first, rwa, 1);
    await expect(assertKeysKnown(db, both)).resolves.toBeUndefined();
    await expect(assertKeysKnown(db, second)).rejects.toThrow('SECRET_KEYS lacks keys');
    await expect(assertKeysKnown(db, second)).rejects.toThrow('2025');
  });
});

describe('a key of the same id with other bytes', () => {
  test('is refused, named, with the remedy; one damaged secret is no reason', async ({ db }) => {
    const nfts = await addNfts(db, first, rwa, 3);
    const again = vaultOf(['2025']);
    await expect(assertKeysOpen(db, first)).resolves.toBeUndefined();
    await expect(assertKeysOpen(db, again)).rejects.toThrow(
      'SECRET_KEYS has other bytes under the id 2025 than the key that sealed the stored claim secrets. ' +
        'Give this id its former bytes; a new key needs an id of its own.',
    );
    await db('nfts')
      .where({ id: nfts[0]?.id })
      .update({ secret_cipher: Buffer.alloc(60) });
    await expect(assertKeysOpen(db, first)).resolves.toBeUndefined();
  });
});

describe('a rotation', () => {
  test('re-encrypts in batches, keeps every secret, and frees the old key', async ({ db }) => {
    await addNfts(db, first, rwa, 23);
    const before = await secretsBy(db, first);
    const changed = (await rowsOf(db)).map((row) => row.updated_at);
    const progress: [number, number][] = [];
    const done = await rotateSecrets(db, both, {
      batch: 10,
      onProgress: (count, total) => progress.push([count, total]),
    });
    expect(done).toEqual({ rotated: 23, failed: [] });
    expect(progress.slice(0, 3)).toEqual([
      [10, 23],
      [20, 23],
      [23, 23],
    ]);
    expect(await secretsBy(db, second)).toEqual(before);
    expect((await rowsOf(db)).map((row) => row.updated_at)).toEqual(changed);
    await expect(assertKeysKnown(db, second)).resolves.toBeUndefined();
  });

  test('rotates every secret once when two run beside reissues and new NFTs', async ({ db }) => {
    const made = await addNfts(db, first, rwa, 90);
    const reissued = made.slice(0, 10);
    const [one, other, , fresh] = await Promise.all([
      rotateSecrets(db, both, { batch: 7 }),
      rotateSecrets(db, both, { batch: 7 }),
      addNfts(db, both, rwa, 50),
      Promise.all(reissued.map(({ id }) => reissueSecret(db, both, id, claimBaseUrl))),
    ]);
    expect(one.rotated + other.rotated).toBeGreaterThanOrEqual(80);
    expect(one.rotated + other.rotated).toBeLessThanOrEqual(90);
    expect(await listKeysInUse(db)).toEqual(['2026']);
    const secrets = await secretsBy(db, second);
    expect(secrets).toHaveLength(140);
    expect(secrets.slice(0, 10)).toEqual(fresh.map((issue) => issue?.secret));
    expect(secrets.slice(10, 90)).toEqual(made.slice(10).map(({ id, sealed }) => first.open(id, sealed)));
  });

  test('names damaged secrets and goes on with the others', async ({ db }) => {
    const [, damaged] = await addNfts(db, first, rwa, 3);
    await db('nfts')
      .where({ id: damaged?.id })
      .update({ secret_cipher: randomBytes(60) });
    expect(await rotateSecrets(db, both, { batch: 1 })).toEqual({ rotated: 2, failed: [damaged?.id] });
    await reissueSecret(db, both, String(damaged?.id), claimBaseUrl);
    expect(await listKeysInUse(db)).toEqual(['2026']);
  });
});

describe('a reissued secret', () => {
  test('replaces the old one under the active key, and counts as a change of the NFT', async ({ db }) => {
    const nft = await addNft(db, first, rwa);
    const issue = await reissueSecret(db, both, nft.id, claimBaseUrl);
    expect(await secretsBy(db, second)).toEqual([issue?.secret]);
    expect(issue?.secret).not.toBe(nft && first.open(nft.id, nft.sealed));
    expect(issue?.url).toBe(`https://acme.example/claim/${nft.id}?lang=en#${issue?.secret}`);
    expect(await db('nfts').whereRaw('updated_at > created_at')).toHaveLength(1);
  });
});
