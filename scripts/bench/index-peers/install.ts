import { copyFile, cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '../../rehearse/run-program.ts';

const source = path.join(import.meta.dirname, 'ponder');
/** Where Ponder runs, apart from the project's own packages. */
export const ponderFolder = path.resolve(import.meta.dirname, '../../../.local/bench/ponder');

/** Installs Ponder from the configured registry, unless what its lock file names is there. @returns why it cannot */
export async function installPonder(say: (line: string) => void): Promise<string | undefined> {
  await cp(source, ponderFolder, { recursive: true });
  const lock = path.join(ponderFolder, 'package-lock.json');
  const installed = path.join(ponderFolder, 'node_modules/.installed-lock.json');
  const read = (file: string) => readFile(file, 'utf8').catch(() => undefined);
  if ((await read(lock)) === (await read(installed))) return undefined;
  say('installing Ponder');
  try {
    await runProgram('npm', ['ci', '--ignore-scripts'], { cwd: ponderFolder, timeoutMs: 300_000 });
    await copyFile(lock, installed);
    return undefined;
  } catch (error) {
    return `Ponder could not be installed: ${error instanceof Error ? error.message : String(error)}`;
  }
}
