import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { LocalError } from './programs/local-error.ts';
import { type LocalFolder, readJson, writeJson } from './programs/local-folder.ts';

const shape = z.object({
  postgresPort: z.int().positive(),
  postgresPassword: z.string().min(1),
  chainPort: z.int().positive(),
  /** In the form of the setting SECRET_KEYS. */
  secretKeys: z.string().min(1),
  /** In the form of the setting CURSOR_KEYS. The first release kept none; a new one only ends open cursors. */
  cursorKeys: z.string().min(1).default(newKeyRing),
});

/** The settings of the local programs, which later starts use again. */
export type KeptSettings = z.output<typeof shape>;

/** The kept settings, or new ones where none are kept. @throws LocalError when the file cannot be read */
export function readSettings(folder: LocalFolder): KeptSettings {
  const kept = readJson(folder.settings);
  if (kept === undefined) return newSettings();
  const read = shape.safeParse(kept);
  if (read.success) return read.data;
  throw new LocalError(`${folder.settings} cannot be read. Start again with: npm start -- --fresh`);
}

export function keepSettings(folder: LocalFolder, settings: KeptSettings): void {
  writeJson(folder.settings, settings);
}

// The search for free ports starts here, below the range of ephemeral ports.
export const newSettings = (): KeptSettings => ({
  postgresPort: 15_432,
  postgresPassword: randomBytes(18).toString('base64url'),
  chainPort: 8_545,
  secretKeys: newKeyRing(),
  cursorKeys: newKeyRing(),
});

function newKeyRing(): string {
  return `local:${randomBytes(32).toString('base64')}`;
}
