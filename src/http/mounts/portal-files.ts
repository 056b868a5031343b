import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { contentPolicy, type PageKind } from './content-policy.ts';
import { type Deployment, fillIn } from './deployment.ts';

/** How one file of the built portal is served. Compressed copies with `.br` and `.gz` are next to it. */
export type PortalFile = {
  readonly type: string;
  /** Changes with the content; becomes the ETag. */
  readonly digest: string;
  /** Of a page, for its Content-Security-Policy: whether calls can be tried on it, or Redoc made it. */
  readonly page?: PageKind;
  /** The name changes with the content, so the file may be cached forever. */
  readonly immutable?: boolean;
  /** Pages of other origins may read the file. */
  readonly open?: boolean;
  /** It says where the service is, which is put in when it is served. */
  readonly filled?: boolean;
};

/** The folder of a built portal that has the portal without the pages for operators and developers. */
export const partnersFolder = 'partners';

const built = fileURLToPath(new URL('../../../dist/portal', import.meta.url));

/** Where `npm run docs` puts the portals, by the values of PORTAL_PAGES. */
export const portalDirectories = { all: built, partners: join(built, partnersFolder) } as const;

type Encoding = 'br' | 'gzip';

/** The built portal. */
export type Portal = {
  /** Files by name, relative to the portal's folder. */
  readonly files: ReadonlyMap<string, PortalFile>;
  /**
   * The content of a file, kept in memory from its first use: the portal is a few megabytes in all.
   * @param name of a listed file
   */
  read(name: string, encoding?: Encoding): Promise<Buffer>;
  /** The Content-Security-Policy of a page, with the hashes of its scripts; undefined for other files. */
  policy(name: string): Promise<string | undefined>;
};

/**
 * Creates a reader of the portal, which loads it again after each build. Only listed files are served. It returns
 * undefined while there is no portal.
 */
export function createPortalReader(
  directory: string,
  deployment: Deployment,
): () => Promise<Portal | undefined> {
  const manifest = join(directory, 'manifest.json');
  // Read once for all portals of that time: each portal of its own would keep each page of its own.
  let known: { readonly at: number; readonly portal: Promise<Portal> } | undefined;
  const load = async () => {
    const { files }: { files: Record<string, PortalFile> } = JSON.parse(await readFile(manifest, 'utf8'));
    return createPortal(directory, new Map(Object.entries(files)), deployment);
  };
  return async () => {
    try {
      const { mtimeMs: at } = await stat(manifest);
      if (known?.at !== at) known = { at, portal: load() };
      return await known.portal;
    } catch {
      // The portal is not built or is being replaced, so there is nothing to serve now.
      known = undefined;
      return undefined;
    }
  };
}

const endings = { br: '.br', gzip: '.gz' } as const;

function createPortal(
  directory: string,
  built: ReadonlyMap<string, PortalFile>,
  deployment: Deployment,
): Portal {
  const fromDisk = (name: string, ending = '') => readFile(join(directory, `${name}${ending}`));
  const isFilled = (name: string) => built.get(name)?.filled === true;
  const plain = keep(async (name) => {
    const bytes = await fromDisk(name);
    return isFilled(name) ? Buffer.from(fillIn(bytes.toString(), deployment)) : bytes;
  });
  const packed = {
    br: keep(async (name) => (isFilled(name) ? pack.br(await plain(name)) : fromDisk(name, endings.br))),
    gzip: keep(async (name) =>
      isFilled(name) ? pack.gzip(await plain(name)) : fromDisk(name, endings.gzip),
    ),
  };
  const files = [...built].map(([name, file]) => [name, withDigest(file, deployment)] as const);
  return {
    files: new Map(files),
    read: (name, encoding) => (encoding === undefined ? plain(name) : packed[encoding](name)),
    policy: keep(async (name) => {
      const page = built.get(name)?.page;
      return page && contentPolicy((await plain(name)).toString(), page);
    }),
  };
}

/** The filled-in values are other content for each deployment. */
function withDigest(file: PortalFile, deployment: Deployment): PortalFile {
  if (!file.filled) return file;
  const hash = createHash('sha256').update(file.digest).update(JSON.stringify(deployment));
  return { ...file, digest: hash.digest('base64url').slice(0, 16) };
}

// Once for each file of a process, so a little less is packed than when the portal is built.
const pack = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};

/** Keeps what `load` gives for each name; what failed is tried again. */
function keep<T>(load: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const contents = new Map<string, Promise<T>>();
  return (name) => {
    const known = contents.get(name);
    if (known !== undefined) return known;
    const content = load(name);
    contents.set(name, content);
    content.catch(() => contents.delete(name));
    return content;
  };
}
