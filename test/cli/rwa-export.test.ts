import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, describe, expect } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { type ClaimSecretVault, createClaimSecretVault } from '../../src/rwa/assets/claim-secret.ts';
import type { Nft } from '../../src/rwa/assets/nft-row.ts';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { addCompany, addNetwork, addNfts, addRwa } from '../rwa/samples.ts';
import { perFile } from '../support/fixtures.ts';
import { commandLine } from './command-line.ts';
import { test as base } from './fixtures.ts';

const test = base.extend('vault', perFile, ({ settings }) =>
  createClaimSecretVault(loadConfig(settings).SECRET_KEYS ?? new Map()),
);
const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-export-'));
let rwa: OperatorRwa;
let nfts: readonly Nft[];

test.beforeAll(async ({ db, vault }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
  rwa = await addRwa(db, 'acme', { claimBaseUrl: 'https://acme.example/claim?a="b",c' });
  nfts = await addNfts(db, vault, rwa, 3);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const expected = (vault: ClaimSecretVault) =>
  nfts.map((nft, index) => ({
    serial: `00000${index + 1}`,
    tokenId: nft.tokenId,
    nftId: nft.id,
    url: `https://acme.example/claim/${nft.id}?a=%22b%22,c#${vault.open(nft.id, nft.sealed)}`,
    claimStatus: 'unclaimed',
  }));

describe('rwa export', () => {
  test('writes serials and claim URLs as CSV to standard output, and nothing else', async ({
    vault,
    run,
  }) => {
    const { status, out, err } = await run('rwa', 'export', rwa.id);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^serial,tokenId,nftId,url,claimStatus\r\n/);
    expect(parse(out, { columns: true })).toEqual(expected(vault));
  });

  test('has no cell that a spreadsheet takes for a formula', async ({ run }) => {
    const { out } = await run('rwa', 'export', rwa.id);
    const rows: string[][] = parse(out);
    for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  });

  test('is one JSON array for programs', async ({ db, vault, run, json }) => {
    expect((await json('rwa', 'export', rwa.id)).value).toEqual(expected(vault));
    const empty = await addRwa(db, 'acme');
    expect((await json('rwa', 'export', empty.id)).value).toEqual([]);
    expect((await run('rwa', 'export', empty.id)).out).toBe('serial,tokenId,nftId,url,claimStatus\r\n');
  });

  test('writes a new file that its maker alone can read', async ({ vault, json }) => {
    const file = path.join(folder, 'new.csv');
    const { status, value, notes } = await json('rwa', 'export', rwa.id, '--out', file);
    expect({ status, value }).toEqual({ status: 0, value: { rwaId: rwa.id, file, nfts: 3 } });
    expect(notes).toEqual(['The file holds claim secrets; it is readable by you alone.']);
    expect(parse(await readFile(file), { columns: true })).toEqual(expected(vault));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('never writes over a file', async ({ run }) => {
    const file = path.join(folder, 'present.csv');
    await writeFile(file, 'mine');
    const { status, err } = await run('rwa', 'export', rwa.id, '--out', file);
    expect(status).toBe(2);
    expect(err).toBe(`${file} exists already: name another file, or remove it first.\n`);
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  test('says when the folder does not exist', async ({ run }) => {
    const { status, err } = await run('rwa', 'export', rwa.id, '--out', path.join(folder, 'none', 'a.csv'));
    expect(status).toBe(2);
    expect(err).toMatch(/cannot be made: its folder does not exist\.\n$/);
  });

  test('leaves no file behind when a secret does not open', async ({ settings }) => {
    const other = { SECRET_KEYS: `other:${Buffer.alloc(32, 9).toString('base64')}` };
    const file = path.join(folder, 'half.csv');
    const { status, err } = await commandLine({ ...settings, ...other }).run(
      ...['rwa', 'export', rwa.id, '--out', file],
    );
    expect(status).toBe(1);
    expect(err).toMatch(/needs unknown key first\.\nFor a check of everything: tallystick doctor\n$/);
    expect(await readdir(folder)).not.toContain('half.csv');
  });

  test('needs the setting that opens secrets', async ({ settings }) => {
    const { SECRET_KEYS: _, ...without } = settings;
    const { status, err } = await commandLine({ ...without, AREAS: 'events' }).run('rwa', 'export', rwa.id);
    expect(status).toBe(2);
    expect(err).toContain('SECRET_KEYS is missing');
  });

  test('refuses an unknown RWA', async ({ run }) => {
    expect((await run('rwa', 'export', 'x')).err).toContain('There is no RWA x.');
  });
});
