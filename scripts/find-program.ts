import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Finds a program with any such name in the folders of PATH; undefined if it is nowhere. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  const files = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
