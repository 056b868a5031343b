import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { decode } from 'fast-png';
import { describe, expect } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { type ClaimSecretVault, createClaimSecretVault } from '../../src/rwa/assets/claim-secret.ts';
import type { Nft } from '../../src/rwa/assets/nft-row.ts';
import type { OperatorRwa } from '../../src/rwa/operators/rwa-admin-store.ts';
import { addCompany, addNetwork, addNfts, addRwa, markMinted } from '../rwa/samples.ts';
import { perFile } from '../support/fixtures.ts';
import { makeFolder } from '../support/made-folder.ts';
import { readCode, readSvg } from '../support/printed-code.ts';
import { commandLine } from './command-line.ts';
import { test as base } from './fixtures.ts';

const test = base.extend('vault', perFile, ({ settings }) =>
  createClaimSecretVault(loadConfig(settings).SECRET_KEYS ?? new Map()),
);
const folder = await makeFolder();
let rwa: OperatorRwa;
let nfts: readonly Nft[];

test.beforeAll(async ({ db, vault }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
  rwa = await addRwa(db, 'acme', { claimBaseUrl: 'https://acme.example/claim?a="b",c' });
  nfts = await addNfts(db, vault, rwa, 3);
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
    expect(notes).toEqual(['The file contains claim secrets; it is readable by you alone.']);
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

  test('names what is damaged, and writes all others', async ({ db, vault, run, json }) => {
    const own = await addRwa(db, 'acme', { claimBaseUrl: 'https://acme.example/claim' });
    const [first, damaged, last] = await addNfts(db, vault, own, 3);
    await db('nfts')
      .where({ id: damaged?.id })
      .update({ secret_cipher: Buffer.alloc(60, 1) });
    const { status, out, err } = await run('rwa', 'export', own.id);
    const lines: { nftId: string }[] = parse(out, { columns: true });
    expect(lines.map(({ nftId }) => nftId)).toEqual([first?.id, last?.id]);
    expect([status, err]).toEqual([
      1,
      `Left out, since their secrets are damaged: 000002 (${damaged?.id}).\nNew secrets: tallystick rwa reissue-secret <nftId>\n`,
    ]);
    const made = path.join(folder, 'damaged-codes');
    const codes = await json('rwa', 'export', own.id, '--qr', made);
    expect(codes.value).toMatchObject({ nfts: 2 });
    expect(codes.notes).toContain(`Left out, since their secrets are damaged: 000002 (${damaged?.id}).`);
    expect((await readdir(made)).toSorted()).toEqual(['000001.svg', '000003.svg', 'sheet-001.html']);
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

describe('rwa export --qr', () => {
  const secretsIn = async (made: string, format: 'svg' | 'png') => {
    const names = (await readdir(made)).filter((name) => name.endsWith(`.${format}`)).sort();
    return Promise.all(names.map(async (name) => [name, await readFrom(path.join(made, name))]));
  };

  test.for(['svg', 'png'] as const)(
    'makes a %s for each NFT that reads as its link',
    async (format, { vault, json }) => {
      const made = path.join(folder, `codes-${format}`);
      const { status, value, notes } = await json('rwa', 'export', rwa.id, '--qr', made, '--format', format);
      expect({ status, value }).toEqual({
        status: 0,
        value: { rwaId: rwa.id, folder: made, claimStatus: 'unclaimed', nfts: 3 },
      });
      expect(notes).toEqual([
        'The folder contains claim secrets; it is readable by you alone.',
        'Print no code smaller than 14 mm, and keep its white border.',
      ]);
      expect(await secretsIn(made, format)).toEqual(
        expected(vault).map(({ serial, url }) => [`${serial}.${format}`, url]),
      );
      expect((await stat(made)).mode & 0o777).toBe(0o700);
      for (const name of await readdir(made)) {
        expect([name, (await stat(path.join(made, name))).mode & 0o777]).toEqual([name, 0o600]);
      }
    },
  );

  test('makes sheets to print, of a thousand codes each, whatever the asset is called', async ({
    db,
    vault,
    json,
  }) => {
    const many = await addRwa(db, 'acme', { name: '<script>alert("17")</script> & Co' });
    await addNfts(db, vault, many, 1_001);
    const made = path.join(folder, 'many');
    await json('rwa', 'export', many.id, '--qr', made);
    const sheets = (await readdir(made)).filter((name) => name.endsWith('.html'));
    expect(sheets).toEqual(['sheet-001.html', 'sheet-002.html']);
    const texts = await Promise.all(sheets.map((name) => readFile(path.join(made, name), 'utf8')));
    expect(texts.map((text) => text.match(/<figure>/g)?.length)).toEqual([1_000, 1]);
    expect(texts.map((text) => text.endsWith('</main></body></html>\n'))).toEqual([true, true]);
    expect(texts[1]).toContain(
      '<p>acme</p><p>&lt;script&gt;alert("17")&lt;/script&gt; &amp; Co</p><p><b>001001</b></p></figcaption>',
    );
    expect(texts.join('')).not.toMatch(/<script/);
    // The code on the sheet is that of the file.
    const single = await readFile(path.join(made, '001001.svg'), 'utf8');
    expect(texts[1]).toContain(single);
  });

  test('prints the company as customers know it, and a line of text, below each code', async ({
    db,
    vault,
    run,
    json,
  }) => {
    await addCompany(db, 'wines', { display_name: 'Weingut <Müller>' });
    const own = await addRwa(db, 'wines');
    await addNfts(db, vault, own, 2);
    const made = path.join(folder, 'captions');
    await json('rwa', 'export', own.id, '--qr', made, '--text', ' Scan & claim ');
    const sheet = await readFile(path.join(made, 'sheet-001.html'), 'utf8');
    const caption = (serial: string) =>
      `<figcaption><p>Weingut &lt;Müller&gt;</p><p>Cask 17</p><p><b>${serial}</b></p><p class="text">Scan &amp; claim</p></figcaption>`;
    expect(sheet.match(/<figcaption>.*?<\/figcaption>/g)).toEqual([caption('000001'), caption('000002')]);
    expect(sheet).toContain('<title>Weingut &lt;Müller&gt;, Cask 17: claim codes</title>');
    const without = await run('rwa', 'export', own.id, '--text', 'x');
    expect([without.status, without.err]).toEqual([2, expect.stringContaining('it needs --qr')]);
  });

  test('leaves out what is claimed, unless it is asked for', async ({ db, vault, json }) => {
    const own = await addRwa(db, 'acme');
    const [first] = await addNfts(db, vault, own, 3);
    await markMinted(db, first?.id ?? '');
    const codes = async (name: string, ...args: string[]) => {
      const made = path.join(folder, name);
      const { value, notes } = await json('rwa', 'export', own.id, '--qr', made, ...args);
      const names = (await readdir(made)).filter((each) => each.endsWith('.svg')).toSorted();
      return { names, count: value.nfts, notes };
    };
    expect(await codes('unclaimed')).toMatchObject({ names: ['000002.svg', '000003.svg'], count: 2 });
    expect(await codes('all', '--claim-status', 'all')).toMatchObject({ count: 3 });
    expect(await codes('minted', '--claim-status', 'minted')).toMatchObject({ names: ['000001.svg'] });
    expect(await codes('failed', '--claim-status', 'failed')).toMatchObject({
      names: [],
      count: 0,
      notes: ['No NFT is failed. Codes of NFTs of every status: --claim-status all'],
    });
    // A file says of each how it stands.
    expect((await json('rwa', 'export', own.id)).value).toHaveLength(3);
    const { value } = await json('rwa', 'export', own.id, '--claim-status', 'unclaimed');
    expect(value.map(({ serial }: { serial: string }) => serial)).toEqual(['000002', '000003']);
  });

  // The shortest and the longest link. The company says where they lead, so they have no bound.
  test.for([
    ['https://api.example.com', 12],
    [`https://${'a'.repeat(42)}.example/${'b'.repeat(200)}`, 20],
  ] as const)(
    'scans from a sheet, which says how small it may be: %s, %d mm',
    async ([base, mm], { db, vault, json }) => {
      const own = await addRwa(db, 'acme', { claimBaseUrl: `${base}/claim` });
      await addNfts(db, vault, own, 2);
      const made = path.join(folder, `printed-${base.length}`);
      const { notes } = await json('rwa', 'export', own.id, '--qr', made);
      expect(notes).toContain(`Print no code smaller than ${mm} mm, and keep its white border.`);
      const links: { url: string }[] = (await json('rwa', 'export', own.id)).value;
      const sheet = await readFile(path.join(made, 'sheet-001.html'), 'utf8');
      const found = await Promise.all((sheet.match(/<svg.*?<\/svg>/gs) ?? []).map(readSvg));
      expect(found).toEqual(links.map(({ url }) => url));
    },
  );

  test('never writes into a folder that is there, and names what stands in the way', async ({ run }) => {
    const { status, err } = await run('rwa', 'export', rwa.id, '--qr', folder);
    expect([status, err]).toEqual([
      2,
      `${folder} exists already: name another folder, or remove it first.\n`,
    ]);
    const nowhere = await run('rwa', 'export', rwa.id, '--qr', path.join(folder, 'none', 'codes'));
    expect([nowhere.status, nowhere.err]).toEqual([2, expect.stringContaining('the folder above it')]);
    expect((await run('rwa', 'export', rwa.id, '--qr', 'x', '--out', 'y')).status).toBe(2);
    expect((await run('rwa', 'export', rwa.id, '--qr', 'x', '--format', 'gif')).status).toBe(2);
  });

  test('leaves no folder behind when a secret does not open', async ({ settings }) => {
    const other = { SECRET_KEYS: `other:${Buffer.alloc(32, 9).toString('base64')}` };
    const args = ['rwa', 'export', rwa.id, '--qr', path.join(folder, 'half')];
    expect((await commandLine({ ...settings, ...other }).run(...args)).status).toBe(1);
    expect(await readdir(folder)).not.toContain('half');
  });
});

/** What a scanner reads in the pixels of a PNG, or in the squares of an SVG. */
async function readFrom(file: string): Promise<string | undefined> {
  const bytes = await readFile(file);
  if (file.endsWith('.png')) {
    const { width, data } = decode(bytes);
    return readCode(width, (index) => data[index] ?? 255);
  }
  return readSvg(bytes.toString());
}
