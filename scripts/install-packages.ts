import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.ts';

/** Installs the packages of a folder with a lock file of its own, unless the packages of the lock file are there. */
export async function installPackages(folder: string): Promise<void> {
  const lock = join(folder, 'package-lock.json');
  const installed = join(folder, 'node_modules/.installed-lock.json');
  const read = (file: string) => readFile(file, 'utf8').catch(() => undefined);
  if ((await read(lock)) === (await read(installed))) return;
  process.stdout.write(`Installing what ${lock} names …\n`);
  await runProgram('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    timeoutMs: 600_000,
  });
  await copyFile(lock, installed);
}
