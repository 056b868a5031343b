import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findOpenFiles } from '../src/compose/open-files.ts';
import { commandLine, settingsFor } from './cli/command-line.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tallystick-open-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Makes a file of this mode, whatever the umask is. */
async function fileOf(name: string, mode: number, text = ''): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, text);
  await chmod(file, mode);
  return file;
}

const noSigners = { MINT_SIGNERS: undefined, MINT_KEYSTORE_PASSWORD_FILE: undefined };

describe('a file of settings or secrets', () => {
  test.each([
    [0o644, 'every user'],
    [0o604, 'every user'],
    [0o444, 'every user'],
    [0o640, 'its group'],
    [0o440, 'its group'],
    [0o600, undefined],
    [0o400, undefined],
    [0o611, undefined],
  ])('of mode %o that this user owns is open to: %s', async (mode, readers) => {
    const file = await fileOf(`mode-${mode}`, mode);
    const found = findOpenFiles(noSigners, {}, file);
    expect(found).toEqual(readers === undefined ? [] : [{ file, mode: mode.toString(8), readers }]);
  });

  test('is each one that the settings name, once', async () => {
    const settings = await fileOf('settings', 0o644);
    const url = await fileOf('url', 0o644);
    const keystore = await fileOf('keystore', 0o644);
    const password = await fileOf('password', 0o644);
    const place = (chainId: string, kind: 'keystore' | 'kms', where: string) => ({
      chainId,
      kind,
      place: where,
    });
    const signers = [
      place('1', 'keystore', keystore),
      place('137', 'keystore', keystore),
      place('5', 'kms', url),
    ];
    const config = { MINT_SIGNERS: signers, MINT_KEYSTORE_PASSWORD_FILE: password };
    const env = {
      DATABASE_URL_FILE: url,
      SECRET_KEYS_FILE: path.join(folder, 'absent'),
      CURSOR_KEYS_FILE: '',
    };
    expect(findOpenFiles(config, env, settings).map(({ file }) => file)).toEqual([
      settings,
      url,
      password,
      keystore,
    ]);
    expect(findOpenFiles(noSigners, {}, undefined)).toEqual([]);
  });
});

describe('doctor', () => {
  // Nothing is at this port: the files are looked at all the same.
  const settings = settingsFor('postgres://me@127.0.0.1:1/none');
  const filesOf = async (environment: Record<string, string>) => {
    const { value } = await commandLine(settings, { environment }).json('doctor');
    return value.filter(({ check }: { check: string }) => check === 'files');
  };

  test('names all files that others can read in one warning, with the remedy', async () => {
    const url = await fileOf('url-of-doctor', 0o644);
    const file = await fileOf('settings-of-doctor', 0o640, `DATABASE_URL_FILE=${url}\n`);
    const [warning, ...more] = await filesOf({ TALLYSTICK_SETTINGS: file });
    expect(more).toEqual([]);
    expect(warning).toMatchObject({ state: 'warning' });
    expect(warning.detail).toBe(
      `others can read ${file} (its group, mode 640), ${url} (every user, mode 644): ` +
        'let it belong to the user of the service and run chmod 600 (a volume of Kubernetes: defaultMode: 0400)',
    );
  });

  test('says nothing of files that only their owner can read', async () => {
    const file = await fileOf('closed-settings', 0o600, 'LOG_LEVEL=info\n');
    expect(await filesOf({ TALLYSTICK_SETTINGS: file })).toEqual([]);
  });
});
