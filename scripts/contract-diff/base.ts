import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isObject, type Json, type JsonObject } from './json.ts';

const root = resolve(import.meta.dirname, '../..');
const generated = 'src/contract/generated';

/** The bundles of the last release, as they were published. */
export const released = 'openapi/released';

/** A document of every area. */
export const areas = ['blockchain', 'events', 'rwa', 'claim', 'news'] as const;

const noDocument = '{ "openapi": "3.1.0", "paths": {} }';

/**
 * A document of `base`: a folder with `<area>.json`, or a revision of git. The present one without a base. One without
 * paths stands for an area that is newer than the base, which has the others.
 * @throws Error that says what `base` may be when it is neither
 */
export async function readDocument(area: string, base?: string): Promise<JsonObject> {
  const text =
    base === undefined
      ? await readFile(join(root, generated, `${area}.json`), 'utf8')
      : await readBase(area, base).catch(async (error: unknown) => {
          const others = areas.filter((other) => other !== area);
          await Promise.any(others.map((other) => readBase(other, base))).catch(() => Promise.reject(error));
          return noDocument;
        });
  const parsed: Json = JSON.parse(text);
  if (!isObject(parsed) || !isObject(parsed.paths))
    throw new Error(`${base ?? generated} has no OpenAPI document in ${area}.json.`);
  return parsed;
}

async function readBase(area: string, base: string): Promise<string> {
  const folder = resolve(root, base);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return readFile(join(folder, `${area}.json`), 'utf8');
  try {
    // What begins with a dash would be read as an option.
    const revision = `${base.replace(/^-+/, '')}:${generated}/${area}.json`;
    const options = { cwd: root, maxBuffer: 64e6, timeout: 60_000 };
    return (await promisify(execFile)('git', ['show', revision], options)).stdout;
  } catch (cause) {
    throw new Error(
      `${base} is neither a folder with ${area}.json nor a revision of git that has ${generated}/${area}.json.`,
      { cause },
    );
  }
}

/** Keeps the present documents as those of the last release. */
export async function recordRelease(): Promise<void> {
  await mkdir(join(root, released), { recursive: true });
  for (const area of areas)
    await copyFile(join(root, generated, `${area}.json`), join(root, released, `${area}.json`));
}

/** The changelog of the project. */
export function readChangelog(): Promise<string> {
  return readFile(join(root, 'CHANGELOG.md'), 'utf8');
}
