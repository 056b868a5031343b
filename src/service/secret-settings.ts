import { type KmsOptions, unwrapKey } from '../chain/kms-client.ts';
import { ConfigError, type Environment, keyEntries, secretSettings } from '../config/config.ts';
import { readFileOf } from '../config/settings-file.ts';

/**
 * Opens secret settings: reads those that are given as `NAME_FILE`, the path of a file, and opens the keys that are
 * wrapped by AWS KMS.
 * @returns the variables with all secrets in them
 * @throws ConfigError naming every one that cannot be read or opened
 */
export async function openSecretSettings(env: Environment, options?: KmsOptions): Promise<Environment> {
  return openWrappedKeys(readSecretFiles(env), options);
}

function readSecretFiles(env: Environment): Environment {
  const read: Record<string, string | undefined> = { ...env };
  const faults: string[] = [];
  for (const name of secretSettings) {
    const text = readFileOf(env, name, faults);
    if (text === undefined) continue;
    delete read[`${name}_FILE`];
    read[name] = text;
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return read;
}

const form =
  /^([A-Za-z0-9_-]{1,32}):kms:(arn:aws[a-z-]*:kms:[a-z0-9-]+:\d+:(?:key|alias)\/[^:,]+):([A-Za-z0-9+/]+=*)$/;

const keySettings = ['SECRET_KEYS', 'NODE_KEYS', 'CURSOR_KEYS'] as const;

/** Opens keys, `id:kms:arn:base64`, so that they read `id:base64`. */
async function openWrappedKeys(env: Environment, options?: KmsOptions): Promise<Environment> {
  const faults: string[] = [];
  const opened = await Promise.all(
    keySettings.map(async (name) => {
      const entries = await Promise.all(
        keyEntries(env[name] ?? '').map((entry) => openEntry(entry, options)),
      );
      const texts = entries.map((entry) => {
        if (typeof entry === 'string') return entry;
        faults.push(`${name}: key ${entry.id} cannot be opened by ${entry.arn}: ${entry.reason}`);
        return '';
      });
      return [name, texts.join(',')] as const;
    }),
  );
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...env, ...Object.fromEntries(opened.filter(([, text]) => text !== '')) };
}

type Unopened = { readonly id: string; readonly arn: string; readonly reason: string };

async function openEntry(entry: string, options?: KmsOptions): Promise<string | Unopened> {
  const [, id, arn, encoded] = form.exec(entry) ?? [];
  if (id === undefined || arn === undefined || encoded === undefined) return entry;
  try {
    const key = await unwrapKey({ id, arn, wrapped: Buffer.from(encoded, 'base64') }, options);
    return `${id}:${key.toString('base64')}`;
  } catch (error) {
    return { id, arn, reason: error instanceof Error ? error.message || error.name : String(error) };
  }
}

/** The texts that nobody may see: the values of secret settings, and the secrets that stand within them. */
export function secretTexts(env: Environment): string[] {
  return secretSettings.flatMap((name) => {
    const value = env[name] ?? '';
    if (!URL.canParse(value) || !value.includes('://')) return [value, ...keysWithin(value)];
    const { username, password } = new URL(value);
    // As in databases of a developer: a word that stands in many lines, and no secret.
    return password === username ? [] : [password, decodeURIComponent(password)];
  });
}

/** What stands behind the names of a ring of keys, or of headers, whose values may be percent-encoded. */
const keysWithin = (ring: string) =>
  keyEntries(ring).flatMap((entry) => {
    const value = entry.replace(/^[\w-]+[:=]/, '');
    return /%[\da-f]{2}/i.test(value) ? [value, decoded(value)] : [value];
  });

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
