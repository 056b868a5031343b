import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { errorCode } from '../../base/thrown.ts';

/**
 * The possible paths of the temporary folder that belongs to a name, the preferred one first: /var/tmp survives
 * a restart of the machine, /tmp may not.
 */
export function tempFolderNames(name: string): string[] {
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return [...new Set(['/var/tmp', tmpdir()])].map((parent) => path.join(parent, `tallystick-${mark}`));
}

/** The temporary folders of a name that this user owns, created where they are missing. Everybody may enter them. */
export function openTempFolders(name: string): string[] {
  return tempFolderNames(name).filter((folder) => {
    try {
      mkdirSync(folder);
    } catch (error) {
      // A folder of this name that belongs to somebody else may be a trap.
      if (errorCode(error) !== 'EEXIST' || !isOurs(folder)) return false;
    }
    chmodSync(folder, 0o755);
    return true;
  });
}

/** Whether a path is a folder of this user, and not a link to one. */
export function isOurs(folder: string): boolean {
  try {
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === process.getuid?.();
  } catch {
    return false;
  }
}
