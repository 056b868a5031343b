import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { needsFilling } from '../../src/http/mounts/deployment.ts';
import type { PortalFile } from '../../src/http/mounts/portal-files.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.txt': 'text/plain; charset=utf-8',
};

export type Entry = { readonly content: string; readonly file: PortalFile };

const digest = (content: string) => createHash('sha256').update(content).digest('base64url').slice(0, 16);

export type Site = ReturnType<typeof createSite>;

/** The files of the portal as they come together in memory. Nothing is written before all files are there. */
export function createSite() {
  const entries = new Map<string, Entry>();

  const add = (path: string, content: string, more: Partial<PortalFile> = {}) => {
    const type = types[extname(path)];
    if (type === undefined) throw new Error(`No media type is known for ${path}`);
    if (entries.has(path)) throw new Error(`The portal has ${path} twice`);
    const filled = needsFilling(content) ? { filled: true } : {};
    if (more.immutable && filled.filled)
      throw new Error(`${path} is cached for ever: it cannot be filled in`);
    entries.set(path, { content, file: { type, digest: digest(content), ...filled, ...more } });
  };

  return {
    add,
    /** Adds a file under a name that changes with its content, so that it may be cached for ever. */
    addAsset: (name: string, content: string): string => {
      const path = `assets/${name.replace(/(\.\w+)$/, `-${digest(content).slice(0, 10)}$1`)}`;
      add(path, content, { immutable: true });
      return path;
    },
    entries: entries as ReadonlyMap<string, Entry>,
  };
}

/** Brotli at 11 would take many times as long as at 9 and save a tenth. */
async function writeEntry(directory: string, path: string, { content }: Entry): Promise<void> {
  const bytes = Buffer.from(content);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await Promise.all([
    writeFile(file, bytes),
    promisify(brotliCompress)(bytes, { params }).then((packed) => writeFile(`${file}.br`, packed)),
    promisify(gzip)(bytes, { level: 9 }).then((packed) => writeFile(`${file}.gz`, packed)),
  ]);
}

async function writeSite(directory: string, { entries }: Site): Promise<void> {
  const files = Object.fromEntries([...entries].map(([path, { file }]) => [path, file]));
  for (const [path, entry] of entries) await writeEntry(directory, path, entry);
  await writeFile(join(directory, 'manifest.json'), `${JSON.stringify({ files }, null, 1)}\n`);
}

/**
 * Writes a portal and those in its folders. It writes next to the target and then swaps, so that a service or a second
 * build never sees a half portal.
 */
export async function writeSites(
  directory: string,
  stamp: string,
  sites: Readonly<Record<string, Site>>,
): Promise<void> {
  const fresh = `${directory}.new-${process.pid}`;
  const old = `${directory}.old-${process.pid}`;
  try {
    for (const [folder, site] of Object.entries(sites)) await writeSite(join(fresh, folder), site);
    await writeFile(join(fresh, '.stamp'), `${stamp}\n`);
    await rename(directory, old).catch(unless('ENOENT'));
    // Another build may have come in between; then its portal stands, and its stamp says of what it is.
    await rename(fresh, directory).catch(unless('ENOTEMPTY', 'EEXIST'));
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
}

/** Ignores errors of these codes and throws all others. */
const unless =
  (...codes: readonly string[]) =>
  (error: NodeJS.ErrnoException): void => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
