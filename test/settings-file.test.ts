import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withSettings } from '../src/cli/init/settings-text.ts';
import { ConfigError } from '../src/config/config.ts';
import { gatherSettings, parseSettings } from '../src/config/settings-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tallystick-settings-'));
const file = path.join(folder, 'settings.env');
afterAll(() => rmSync(folder, { recursive: true }));

function faultsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('the environment wins over the file, and an empty variable does not', () => {
  writeFileSync(file, '# ours\nPORT=4000\nHOST="::1"\nLOG_LEVEL=warn\n');
  const env = { PORT: '5000', HOST: '', TALLYSTICK_SETTINGS: file };
  expect(gatherSettings(env)).toMatchObject({ PORT: '5000', HOST: '::1', LOG_LEVEL: 'warn' });
  expect(gatherSettings({ PORT: '5000' })).toEqual({ PORT: '5000' });
  expect(gatherSettings({ TALLYSTICK_SETTINGS: '/none' }, file)).toMatchObject({ PORT: '4000' });
});

test('a secret of the environment wins in either way over one of the file in the other', () => {
  writeFileSync(file, 'SECRET_KEYS=a:b\nCURSOR_KEYS_FILE=/keys\n');
  const gathered = gatherSettings({ SECRET_KEYS_FILE: '/other', CURSOR_KEYS: 'c:d' }, file);
  expect(gathered).toEqual({ SECRET_KEYS_FILE: '/other', CURSOR_KEYS: 'c:d' });
});

test('every line that is wrong is named, and no value told', () => {
  const text = 'PORT=1\nPUBLIC_BASEURL=hidden\n\n  # fine\nexport HOST=hidden\nPORT=hidden\n';
  expect(faultsOf(() => parseSettings(text, 'f'))).toEqual([
    'f:2: PUBLIC_BASEURL is no setting',
    'f:5 is not NAME=value',
    'f:6: PORT is given a second time',
  ]);
  expect(faultsOf(() => gatherSettings({}, path.join(folder, 'none')))).toEqual([
    `The settings file ${path.join(folder, 'none')} cannot be read (ENOENT)`,
  ]);
});

test('a value that a comment sign would cut is named, and a comment behind a value is not', () => {
  const text = 'DATABASE_URL=postgres://u:12#3@h/d\nPORT=1 # ours\nHOST="#a" # ours\nOPERATOR_NAME= #\n';
  expect(faultsOf(() => parseSettings(text, 'f'))).toEqual([
    'f:1: DATABASE_URL ends before #; write %23 in a URL, or put all in quotes',
  ]);
});

test.for([
  ['plain', 'postgres://u:p$&@h/d?a=b'],
  ['a comment sign', 'postgres://u:p#1@h/d'],
  ['quotes', `it's "so"`],
  ['spaces', ' two  words '],
  ['a backslash', 'a\\nb'],
] as const)('a value with %s is read as it was written', ([, value]) => {
  const once = withSettings(undefined, { DATABASE_URL: 'postgres://old', PORT: '1' }, 'f');
  const text = withSettings(once, { DATABASE_URL: value }, 'f');
  expect(parseSettings(text, 'f')).toEqual({ DATABASE_URL: value, PORT: '1' });
});

test('a value that cannot be written is refused, and not told', () => {
  for (const value of ['two\nlines', '\'"`']) {
    expect(() => withSettings(undefined, { AUTH_CREDENTIAL: value }, 'f')).toThrow(
      'The value of AUTH_CREDENTIAL cannot be written into a file: give it by the environment.',
    );
  }
});
