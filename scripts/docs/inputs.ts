import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { recipeFiles } from './recipes.ts';

/** The folders and files that the portal is made from, relative to the project. */
const sources = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
  'openapi/portal',
  'scripts/docs.ts',
  'scripts/docs',
  'src/config',
  'src/contract/generated',
  'src/base/errors.ts',
  'src/http/mounts/deployment.ts',
  'package.json',
  'scripts/redocly.ts',
  ...recipeFiles,
];

async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [path];
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/**
 * One digest of everything that goes into the portal, the runtime's version (whose zlib packs the files) included. Equal
 * digests mean equal portals.
 */
export async function stampInputs(root: string): Promise<string> {
  const files = (await Promise.all(sources.map((source) => filesOf(join(root, source))))).flat().sort();
  const hash = createHash('sha256').update(process.version);
  for (const file of files) {
    const content = await readFile(file);
    hash.update(`\0${relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** The stamp of a portal that was built before, if there is one. */
export function readStamp(directory: string): Promise<string | undefined> {
  return readFile(join(directory, '.stamp'), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}
