import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** How one file of the built portal is served. Beside each lie copies packed as `.br` and `.gz`. */
export type PortalFile = {
  readonly type: string;
  /** Changes with the content; becomes the ETag. */
  readonly digest: string;
  /** Content-Security-Policy of a page, with the hashes of its scripts. */
  readonly policy?: string;
  /** The name changes with the content, so the file may be cached for ever. */
  readonly immutable?: boolean;
  /** May be read by pages of other hosts. */
  readonly open?: boolean;
};

/** By name, relative to the portal's folder. */
export type PortalFiles = ReadonlyMap<string, PortalFile>;

/**
 * Reads which files the portal in `directory` has, anew after each build. Only files that the build names are
 * ever served. Answers undefined while there is no portal.
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
      // Not built, or just being replaced; either way there is nothing to serve now.
      return undefined;
    }
  };
}
