import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** How one file of the built portal is served. Compressed copies with `.br` and `.gz` lie beside it. */
export type PortalFile = {
  readonly type: string;
  /** Changes with the content; becomes the ETag. */
  readonly digest: string;
  /** Content-Security-Policy of a page, with the hashes of its scripts. */
  readonly policy?: string;
  /** The name changes with the content, so the file may be cached forever. */
  readonly immutable?: boolean;
  /** Pages of other origins may read the file. */
  readonly open?: boolean;
};

/** The built portal. */
export type Portal = {
  /** Files by name, relative to the portal's folder. */
  readonly files: ReadonlyMap<string, PortalFile>;
  /**
   * The content of a file, kept in memory from its first use: the portal is a few megabytes in all.
   * @param name of a listed file, or of a compressed copy of one
   */
  read(name: string): Promise<Buffer>;
};

/**
 * Creates a reader of the portal, which loads it again after each build. Only listed files are served. It returns
 * undefined while there is no portal.
 */
export function createPortalReader(directory: string): () => Promise<Portal | undefined> {
  const manifest = join(directory, 'manifest.json');
  let known: { readonly at: number; readonly portal: Portal } | undefined;
  return async () => {
    try {
      const { mtimeMs: at } = await stat(manifest);
      if (known?.at !== at) {
        const { files }: { files: Record<string, PortalFile> } = JSON.parse(await readFile(manifest, 'utf8'));
        known = {
          at,
          portal: { files: new Map(Object.entries(files)), read: createContentReader(directory) },
        };
      }
      return known.portal;
    } catch {
      // The portal is not built or is being replaced, so there is nothing to serve now.
      return undefined;
    }
  };
}

function createContentReader(directory: string): Portal['read'] {
  const contents = new Map<string, Promise<Buffer>>();
  return (name) => {
    const known = contents.get(name);
    if (known !== undefined) return known;
    const content = readFile(join(directory, name));
    contents.set(name, content);
    // A file that could not be read is tried again.
    content.catch(() => contents.delete(name));
    return content;
  };
}
