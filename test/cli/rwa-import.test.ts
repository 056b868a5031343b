import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { addCompany, addNetwork, contractAddress } from '../rwa/samples.ts';
import { callNode } from '../support/deploy.ts';
import { makeFolder } from '../support/made-folder.ts';
import { commandLine } from './command-line.ts';
import { test } from './fixtures.ts';

const folder = await makeFolder();

test.beforeAll(async ({ chain, db }) => {
  await addNetwork(db, chain.chainId, chain.rpcUrl);
  // Nothing is minted on this network: that there is a contract is enough.
  await callNode(chain.rpcUrl, 'anvil_setCode', [contractAddress, '0x00']);
  await addCompany(db, 'acme');
});
test.beforeEach(({ db }) => db.raw('TRUNCATE rwas CASCADE'));

async function file(name: string, content: string | Buffer): Promise<string> {
  const where = path.join(folder, name);
  await writeFile(where, content);
  return where;
}

const least = { name: 'Cask', type: 'whisky', chainId: 31337, contractAddress };
const header = 'name,type,chainId,contractAddress';
const line = `Cask,whisky,31337,${contractAddress}`;
const importing = (where: string, ...more: string[]) => [
  'rwa',
  'import',
  where,
  '--company',
  'acme',
  ...more,
];
const names = (db: Database): Promise<string[]> => db('rwas').orderBy(['created_at', 'id']).pluck('name');

describe('an import of JSON', () => {
  test('makes every RWA of the array exactly, in its order', async ({ db, json }) => {
    const rows = [
      { ...least, name: 'Zebra', price: '12345678901234567890.10', currency: 'EUR', data: { a: [1, null] } },
      { ...least, name: 'Älter', chainId: '31337', isBuyable: true, description: 'a "b"\n= 1 + 1' },
      { ...least, name: 'Cask', isClaimable: true, claimPage: true, claimBaseUrl: 'https://acme.example/c' },
    ];
    const { status, value, notes } = await json(...importing(await file('all.json', JSON.stringify(rows))));
    expect({ status, notes }).toEqual({ status: 0, notes: [] });
    expect(value).toMatchObject({ rows: 3, imported: 3, errors: [] });
    expect(await names(db)).toEqual(['Zebra', 'Älter', 'Cask']);
    expect(await db('audit_log').select('action', 'details')).toContainEqual({
      action: 'rwa.import',
      details: { count: 3 },
    });
    const list = (await json('rwa', 'list')).value;
    expect(list.map(({ id }: { id: string }) => id)).toEqual(value.ids);
    expect(list).toMatchObject([
      { price: '12345678901234567890.10', currency: 'EUR', data: { a: [1, null] }, contractAddress },
      {
        isBuyable: true,
        isClaimable: false,
        claimPage: false,
        data: null,
        description: 'a "b"\n= 1 + 1',
        price: null,
      },
      {
        isBuyable: false,
        isClaimable: true,
        claimPage: true,
        claimBaseUrl: 'https://acme.example/c',
        companyId: 'acme',
      },
    ]);
  });

  test('takes a byte order mark, and a name in capitals', async ({ run }) => {
    const where = await file('MARK.JSON', `\ufeff${JSON.stringify([least])}`);
    expect(await run(...importing(where))).toMatchObject({ status: 0, out: 'rows      1\nimported  1\n' });
  });

  test.for([
    ['nothing', '', 'it is empty'],
    ['only spaces', ' \n', 'it is empty'],
    ['an empty array', '[]', 'it has no RWAs'],
    ['one object', JSON.stringify(least), 'it must contain one JSON array of RWAs'],
    ['half an array', '[{', 'JSON'],
  ] as const)('refuses %s', async ([_, content, message], { json }) => {
    const where = await file('odd.json', content);
    const { status, value, error } = await json(...importing(where));
    expect({ status, value }).toEqual({ status: 2, value: undefined });
    expect(error?.message).toContain(`${where}: `);
    expect(error?.message).toContain(message);
  });

  test('names every fault with its place, and imports nothing', async ({ db, json }) => {
    const rows = [least, { ...least, price: 12.5, currency: 'EUR' }, null, { ...least, chainId: 77, x: 1 }];
    const where = await file('faults.json', JSON.stringify([...rows, { ...least, chainId: 77 }]));
    const { status, value, error } = await json(...importing(where));
    expect(status).toBe(1);
    expect(value).toMatchObject({ rows: 5, imported: 0, ids: [] });
    expect(value.errors).toEqual([
      { index: 1, field: 'price', message: 'must be a decimal number as text' },
      { index: 2, field: '', message: expect.any(String) },
      { index: 3, field: 'x', message: 'is not a field of an RWA' },
      { index: 4, field: 'chainId', message: '77 is not registered; see: tallystick network list' },
    ]);
    expect(error).toEqual({ exitCode: 1, message: `4 fault(s) in ${where}. Nothing was imported.` });
    expect(await names(db)).toEqual([]);
  });
});

describe('an import of CSV', () => {
  test('reads quoted cells, empty cells, flags of spreadsheets and empty lines', async ({ json }) => {
    const text = [
      `\ufeff${header},description,isClaimable,data`,
      `"Cask, 17",whisky,31337,${contractAddress},"two\nlines",TRUE,"{""litres"":220}"`,
      '',
      `Cask 18 , whisky,31337,${contractAddress.toLowerCase()},,FALSE,`,
      ',,,,,,',
    ].join('\r\n');
    const { status, value } = await json(...importing(await file('all.csv', text)));
    expect({ status, value }).toMatchObject({ status: 0, value: { rows: 2, imported: 2 } });
    expect((await json('rwa', 'list')).value).toMatchObject([
      { name: 'Cask, 17', description: 'two\nlines', isClaimable: true, data: { litres: 220 } },
      { name: 'Cask 18', description: null, isClaimable: false, data: null, contractAddress },
    ]);
  });

  test.for([';', '\t'])('reads cells that %j separates', async (separator, { db, run }) => {
    const text = [header, line].join('\n').replaceAll(',', separator);
    expect((await run(...importing(await file('other.csv', text)))).status).toBe(0);
    expect(await names(db)).toEqual(['Cask']);
  });

  test('names every fault with its line, also behind cells of many lines', async ({ db, run }) => {
    const text = [
      `${header},description`,
      `"A",whisky,31337,${contractAddress},"one\ntwo\n\nfour"`,
      '',
      `,whisky,31337,0x12,`,
      `B,whisky,31337,${contractAddress},"x\ny",more`,
      `C,whisky,77,${contractAddress},`,
      `\u200b,whisky,31337,${contractAddress},`,
    ].join('\n');
    const where = await file('faults.csv', text);
    const { status, out, err } = await run(...importing(where));
    expect(status).toBe(1);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^ROW +FIELD +FAULT$/),
      expect.stringMatching(/^line 7 +name +must not be empty$/),
      expect.stringMatching(/^line 7 +contractAddress +must be 0x and 40 hex digits$/),
      expect.stringMatching(/^line 8 +has 6 cells where the header has 5$/),
      expect.stringMatching(/^line 10 +chainId +77 is not registered; see: tallystick network list$/),
      expect.stringMatching(/^line 11 +name +must have a visible character$/),
      '',
    ]);
    expect(err).toBe(`5 fault(s) in ${where}. Nothing was imported.\n`);
    expect(await names(db)).toEqual([]);
  });

  test('shows a person the first 50 faults, and a program all', async ({ run, json }) => {
    const where = await file('many.csv', `${header}\n${'x,y,0,z\n'.repeat(100)}`);
    const { out, err } = await run(...importing(where));
    expect(out.trimEnd().split('\n')).toHaveLength(51);
    expect(err).toContain('... and 150 more; all with --json.\n');
    expect((await json(...importing(where))).value.errors).toHaveLength(200);
  });
});

describe('an import of a CSV that cannot be used', () => {
  test.for([
    ['nothing', '', 'it is empty'],
    ['only a header', header, 'it has no RWAs'],
    ['no header', line, 'its header, the first line, lacks: name, type, chainId, contractAddress'],
    ['an incomplete header', 'name,type\nx,y', 'lacks: chainId, contractAddress'],
    ['a column twice', `${header},name\n${line},x`, 'its header names a column twice: name'],
    ['an unknown column', `${header},colour\n${line},red`, 'what is no field of an RWA: colour'],
    ['a column without a name', `${header},\n${line},`, 'its header has a cell without a name'],
    ['an open quote', `${header}\n"Cask,1\n`, 'a quote is opened and never closed'],
    ['a quote within a cell', `${header}\nCask "17",1`, 'line 2: a quote stands inside a cell'],
    ['UTF-16', Buffer.from(`\ufeff${header}\n${line}`, 'utf16le'), 'it is UTF-16: save it as UTF-8'],
    ['Windows-1252', Buffer.from(`${header}\n${line}\nK\u00e4se`, 'latin1'), 'line 3 is not UTF-8: save it'],
  ] as const)('refuses a file with %s', async ([_, content, message], { db, json }) => {
    const { status, value, error } = await json(...importing(await file('odd.csv', content)));
    expect({ status, value }).toEqual({ status: 2, value: undefined });
    expect(error?.message).toContain(message);
    expect(await names(db)).toEqual([]);
  });
});

describe('an import', () => {
  test.for([
    ['none.csv', 'there is no such file'],
    ['casks.xlsx', 'the name must end in .json or .csv'],
    ['casks', 'the name must end in .json or .csv'],
  ] as const)('of %s says what is wrong', async ([name, message], { run }) => {
    const where = path.join(folder, name);
    expect((await run(...importing(where))).err).toBe(`${where}: ${message}.\n`);
  });

  test.for(['folder', 'pipe'] as const)(
    'of a %s says that it is no regular file, and waits for nobody',
    async (kind, { run }) => {
      const where = path.join(folder, `${kind}.csv`);
      if (kind === 'folder') await mkdir(where);
      if (kind === 'pipe') await promisify(execFile)('mkfifo', [where]);
      expect((await run(...importing(where))).err).toBe(`${where}: it is not a regular file.\n`);
    },
  );

  test('follows a link to a regular file', async ({ json }) => {
    const where = path.join(folder, 'link.csv');
    await symlink(await file('linked.csv', `${header}\nCask 1,whisky,31337,${contractAddress}`), where);
    expect((await json(...importing(where))).value).toMatchObject({ imported: 1 });
  });

  test('wants a company that exists', async ({ run, json }) => {
    const where = await file('one.json', JSON.stringify([least]));
    expect((await run('rwa', 'import', where)).err).toContain("required option '--company <company>'");
    const { status, error } = await json('rwa', 'import', where, '--company', 'nobody');
    expect(status).toBe(2);
    expect(error?.message).toContain('There is no company "nobody"');
  });

  test('with --check only looks at the file', async ({ db, json }) => {
    const where = await file('check.json', JSON.stringify([least, least]));
    const { status, value, notes } = await json(...importing(where, '--check'));
    expect({ status, value }).toEqual({ status: 0, value: { rows: 2, imported: 0, ids: [], errors: [] } });
    expect(notes).toEqual([`${where} is in order. Nothing was imported: leave out --check for that.`]);
    expect(await names(db)).toEqual([]);
  });
});

describe('an import of many rows', () => {
  test('keeps the order of 10,000 and is done in seconds', async ({ db, json }) => {
    const rows = Array.from({ length: 10_000 }, (_, index) => `${index},t,31337,${contractAddress}`);
    const where = await file('large.csv', [header, ...rows].join('\n'));
    const started = performance.now();
    const { status, value } = await json(...importing(where));
    expect(performance.now() - started).toBeLessThan(25_000);
    expect({ status, rows: value.rows, imported: value.imported }).toEqual({
      status: 0,
      rows: 10_000,
      imported: 10_000,
    });
    expect(await names(db)).toEqual(rows.map((_, index) => String(index)));
    expect(await db('rwas').orderBy(['created_at', 'id']).pluck('id')).toEqual(value.ids);
  });

  test('shows its progress to a person who watches, and Ctrl-C leaves nothing behind', async ({
    db,
    settings,
  }) => {
    const rows = Array.from({ length: 5_000 }, () => least);
    const where = await file('stopped.json', JSON.stringify(rows));
    const seen = { interrupted: false };
    const watched = commandLine(settings, {
      terminal: true,
      onTold(text, interrupt) {
        if (!/ [1-9]\d*\/5000/.test(text)) return;
        seen.interrupted = true;
        interrupt();
      },
    });
    const { status, out, err } = await watched.run(...importing(where));
    expect({ status, out, seen }).toEqual({ status: 130, out: '', seen: { interrupted: true } });
    expect(err).toMatch(/Importing .*\/5000/);
    expect(err).toMatch(/Interrupted: nothing was imported\.\n$/);
    expect(await names(db)).toEqual([]);
    expect((await watched.run(...importing(await file('few.json', JSON.stringify([least]))))).err).toMatch(
      /Importing .*100% \| 1\/1/,
    );
  });

  test('leaves nothing behind when the network goes away in between', async ({ db, json }) => {
    await db.raw(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE foreign_key_violation USING MESSAGE = 'the network is gone'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON rwas FOR EACH ROW WHEN (NEW.name = 'last') EXECUTE FUNCTION refuse()`);
    const rows = [...Array.from({ length: 1_000 }, () => least), { ...least, name: 'last' }];
    const { status, error } = await json(...importing(await file('late.json', JSON.stringify(rows))));
    await db.raw('DROP FUNCTION refuse CASCADE');
    expect(status).toBe(1);
    expect(error?.message).toBe('The database rejected the statement (SQLSTATE 23503): the network is gone');
    expect(await names(db)).toEqual([]);
  });
});
