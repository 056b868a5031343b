import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CompiledContract, compileSources, readSources } from '../../scripts/solidity.ts';

/**
 * Compiles every contract of test/support/contracts. Compiling takes over a second, so the result is cached in
 * the temporary folder under the hash of the sources.
 * @returns the contracts by name
 */
export async function compileContracts(): Promise<Readonly<Record<string, CompiledContract>>> {
  const sources = readSources(path.join(import.meta.dirname, 'contracts'));
  const hash = createHash('sha256').update(JSON.stringify(sources)).digest('hex');
  const cached = path.join(tmpdir(), 'tallystick-solidity', `${hash}.json`);
  const kept = await readFile(cached, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept);
  const compiled = Object.fromEntries(compileSources(sources));
  await mkdir(path.dirname(cached), { recursive: true });
  // Test files run side by side: a reader must never see half a file.
  const draft = `${cached}.${process.pid}.${performance.now()}`;
  await writeFile(draft, JSON.stringify(compiled));
  await rename(draft, cached);
  return compiled;
}
