import { statSync } from 'node:fs';
import { type Config, type Environment, secretSettings } from '../config/config.ts';

/** A file of settings or secrets that more users can read than the one who owns it. */
export type OpenFile = {
  readonly file: string;
  /** In octal, such as `644`. */
  readonly mode: string;
  readonly readers: 'every user' | 'its group';
};

/** How to close such a file. */
export const closingHint =
  'let it belong to the user of the service and run chmod 600 (a volume of Kubernetes: defaultMode: 0400)';

/**
 * Finds the files of settings and secrets that others can read: the settings file, secrets as `NAME_FILE`, keystores and
 * their password. Of a file that belongs to somebody else, the group may be how this process gets at it, so it counts only
 * where this process owns the file.
 * @param env as gathered, before secrets are read from their files
 */
export function findOpenFiles(
  config: Pick<Config, 'MINT_SIGNERS' | 'MINT_KEYSTORE_PASSWORD_FILE'>,
  env: Environment,
  settingsFile: string | undefined,
): OpenFile[] {
  const keystores = config.MINT_SIGNERS?.flatMap(({ kind, place }) => (kind === 'keystore' ? [place] : []));
  const secrets = secretSettings.map((name) => env[`${name}_FILE`]);
  const files = [settingsFile, ...secrets, config.MINT_KEYSTORE_PASSWORD_FILE, ...(keystores ?? [])];
  return [...new Set(files)].flatMap((file) => (file ? (openTo(file) ?? []) : []));
}

function openTo(file: string): OpenFile | undefined {
  const found = statusOf(file);
  if (found === undefined) return undefined;
  const isOwn = found.uid === process.getuid?.();
  const readers = found.mode & 0o004 ? 'every user' : isOwn && found.mode & 0o040 ? 'its group' : undefined;
  return readers && { file, mode: (found.mode & 0o777).toString(8), readers };
}

/** Undefined where it cannot be read: who needs it says so. */
function statusOf(file: string) {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}
