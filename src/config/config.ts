import type { z } from 'zod';
import { callerSettings } from './caller-settings.ts';
import { chainSettings } from './chain-settings.ts';
import { type FixedValues, fixedValues } from './fixed-values.ts';
import { historySettings } from './history-settings.ts';
import { databaseSettings, keySettings, newsSettings, serviceSettings } from './service-settings.ts';
import { traceSettings } from './trace-settings.ts';

export { type Area, areas, roles } from './service-settings.ts';
export { keyEntries } from './setting-forms.ts';
export { samplers } from './trace-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting: how it is parsed, and its text in docs/operate/configuration.md. */
export const settings = {
  ...databaseSettings,
  ...serviceSettings,
  ...callerSettings,
  ...keySettings,
  ...historySettings,
  ...chainSettings,
  ...newsSettings,
  ...traceSettings,
};

type Settings = typeof settings;
export type SettingName = keyof Settings;
type Values = { readonly [Name in SettingName]: z.output<Settings[Name]['schema']> };

/** The settings of the service. They are read once, and nothing else reads the environment. */
export type Config = Readonly<Values> & {
  readonly publicBaseUrl: string;
  readonly claimBaseUrl: string;
  readonly fixed: FixedValues;
};

/** Names every fault of the environment, one a line. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

const names = Object.keys(settings) as SettingName[]; // the keys of a literal are its names

export const secretSettings = names.filter((name) => 'secret' in settings[name]);

/**
 * Reads all settings. An empty value counts as unset. Values of secret settings are never quoted.
 * @param fixed for tests and the service with sample data
 * @throws ConfigError naming every fault
 */
export function loadConfig(env: Environment = process.env, fixed: Partial<FixedValues> = {}): Config {
  const faults: string[] = [];
  const read: Record<string, unknown> = {};
  for (const name of names) {
    const value = env[name] === '' ? undefined : env[name];
    const parsed = settings[name].schema.safeParse(value);
    if (parsed.success) read[name] = parsed.data;
    else faults.push(...parsed.error.issues.map((issue) => describeIssue(name, issue.message, value)));
  }
  faults.push(...crossFaults(read));
  if (faults.length > 0) throw new ConfigError(faults);
  const values = read as Values; // every setting was read by its own schema
  const publicBaseUrl = baseUrl(values);
  const claimBaseUrl = values.CLAIM_BASE_URL ?? `${publicBaseUrl}/claim`;
  return Object.freeze({ ...values, publicBaseUrl, claimBaseUrl, fixed: { ...fixedValues, ...fixed } });
}

function describeIssue(name: SettingName, message: string, given: string | undefined): string {
  if (given === undefined) return `${name} is missing`;
  const setting: { about: string; secret?: boolean } = settings[name];
  // A URL may carry a password, so it is treated like a secret.
  const quoted = setting.secret || /_(URL|ENDPOINT)$/.test(name) ? '' : ` (is ${JSON.stringify(given)})`;
  return `${name}: ${message}${quoted}`;
}

const areasWithKeys = { SECRET_KEYS: ['rwa', 'claim', 'news'], CURSOR_KEYS: ['blockchain'] } as const;

/** Settings that contradict each other. One that could not be read has a fault of its own already. */
function crossFaults(values: Partial<Values>): string[] {
  const faults: string[] = [];
  const isGiven = (name: SettingName) => !(name in values) || values[name] !== undefined;
  for (const name of ['AUTH_URL', 'AUTH_CREDENTIAL'] as const) {
    if (values.KEY_VERIFIER === 'remote' && !isGiven(name)) {
      faults.push(`${name} is missing: KEY_VERIFIER=remote needs it`);
    }
  }
  for (const name of ['SECRET_KEYS', 'CURSOR_KEYS'] as const) {
    const serves = values.ROLES?.includes('api') === true;
    const area = areasWithKeys[name].find((user) => serves && values.AREAS?.includes(user));
    if (area === undefined || isGiven(name)) continue;
    faults.push(
      `${name} is missing: the area ${area} needs it; make one: echo "k1:$(openssl rand -base64 32)"`,
    );
  }
  const shared = [...(values.NODE_KEYS?.keys() ?? [])].filter((id) => values.SECRET_KEYS?.has(id));
  if (shared.length > 0)
    faults.push(`NODE_KEYS and SECRET_KEYS must not both have the key ${shared.join(', ')}`);
  const hasKeystore = values.MINT_SIGNERS?.some(({ kind }) => kind === 'keystore') === true;
  if (hasKeystore && !isGiven('MINT_KEYSTORE_PASSWORD_FILE')) {
    faults.push('MINT_KEYSTORE_PASSWORD_FILE is missing: a keystore of MINT_SIGNERS needs it');
  }
  const { RATE_LIMIT_PER_SECOND: perSecond, RATE_LIMIT_BURST: burst } = values;
  if (perSecond !== undefined && burst !== undefined && burst < perSecond) {
    faults.push('RATE_LIMIT_BURST must not be below RATE_LIMIT_PER_SECOND');
  }
  return faults;
}

function baseUrl(values: Values): string {
  return (values.PUBLIC_BASE_URL ?? `http://localhost:${values.PORT}`).replace(/\/+$/, '');
}
