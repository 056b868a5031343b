import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { errorCode } from './local-error.ts';

/**
 * Where a shelter for something of a name may be: a folder in a temporary one. /var/tmp outlasts a restart of
 * the machine, /tmp may not.
 */
export function shelterNames(name: string): string[] {
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return [...new Set(['/var/tmp', tmpdir()])].map((parent) => path.join(parent, `tallystick-${mark}`));
}

/** Those of the shelters that we own, made if need be, which everybody may enter. */
export function openShelters(name: string): string[] {
  return shelterNames(name).filter((shelter) => {
    try {
      mkdirSync(shelter);
    } catch (error) {
      // Somebody else's folder of this name is a trap.
      if (errorCode(error) !== 'EEXIST' || !isOurs(shelter)) return false;
    }
    chmodSync(shelter, 0o755);
    return true;
  });
}

/** Whether it is a folder, no link to one, and belongs to this user. */
export function isOurs(folder: string): boolean {
  try {
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === process.getuid?.();
  } catch {
    return false;
  }
}
