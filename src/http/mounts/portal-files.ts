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

/** Files by name, relative to the portal's folder. */
export type PortalFiles = ReadonlyMap<string, PortalFile>;

/**
 * Creates a reader of the portal's list of files, which reloads the list after each build. Only listed files are
 * served. It returns undefined while there is no portal.
 */
export function createPortalFiles(directory: string): () => Promise<PortalFiles | undefined> {
  const manifest = join(directory, 'manifest.json');
  let known: { readonly at: number; readonly files: PortalFiles } | undefined;
  return async () => {
    try {
      const { mtimeMs: at } = await stat(manifest);
      if (known?.at !== at) {
        const { files }: { files: Record<string, PortalFile> } = JSON.parse(await readFile(manifest, 'utf8'));
        known = { at, files: new Map(Object.entries(files)) };
      }
      return known.files;
    } catch {
      // The portal is not built or is being replaced, so there is nothing to serve now.
      return undefined;
    }
  };
}
