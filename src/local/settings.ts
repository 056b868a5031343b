import { randomBytes, randomInt } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { ClientSettings } from '../config/client-settings.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { LocalError } from './programs/local-error.ts';
import { type LocalFolder, localFolder, readJson, writeJson } from './programs/local-folder.ts';
import { type HeldPort, holdFreePort, holdPort } from './programs/ports.ts';

export type SettingsOfStart = Readonly<Record<string, string | undefined>>;

// The sample world works with no other values of these.
const fixedSettings = (databaseUrl: string, { secretKeys, cursorKeys }: KeptSettings) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEYS: secretKeys,
  CURSOR_KEYS: cursorKeys,
  KEY_VERIFIER: 'postgres',
  KEY_ENVIRONMENT: 'local',
});

// A malformed address is reported by the check of its own setting.
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '');

/**
 * The service's settings in local mode. The environment may change every setting except the database, the encryption
 * keys and the verification of API keys.
 * @throws ConfigError naming every fault of the environment
 */
export function localConfig(
  env: SettingsOfStart,
  kept: KeptSettings,
  databaseUrl = 'postgres://not.started.yet/',
): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value));
  const { PORT = '3000', PUBLIC_BASE_URL = `http://localhost:${PORT}` } = given;
  const local = {
    HOST: '127.0.0.1',
    PORT,
    PUBLIC_BASE_URL,
    RATE_LIMIT_PER_SECOND: '0',
    // No load balancer has to notice a stop.
    DRAIN_SECONDS: '0',
    INDEX_POLL_MS: '200',
    OWNERSHIP_POLL_SECONDS: '1',
    INDEX_READY_LAG: '5',
    // This service itself serves the metadata of NFTs that are minted here.
    INDEX_METADATA_HOSTS: hostOf(PUBLIC_BASE_URL),
    // Receivers of webhooks run on this machine, too.
    WEBHOOK_HOSTS: 'localhost,127.0.0.1',
    ...given,
    ...fixedSettings(databaseUrl, kept),
  };
  return loadConfig(local, { unknownKeysPerMinute: 0 });
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const madeShape = z.object({
  databaseUrl: z.string(),
  baseUrl: z.string(),
  keys: z.object({ acme: z.string() }),
});

/**
 * The settings of the local service as the last start left them, for commands that run next to it.
 * @throws LocalError when no start has left any
 */
export function readLocalSettings(directory = root): SettingsOfStart {
  const { databaseUrl, baseUrl } = readMade(directory);
  return {
    PUBLIC_BASE_URL: baseUrl,
    ...fixedSettings(databaseUrl, readSettings(localFolder(directory))),
  };
}

/**
 * Where the local service is, with the key of its sample company acme.
 * @throws LocalError when no start has left any
 */
export function readLocalClient(directory = root): ClientSettings {
  const { baseUrl, keys } = readMade(directory);
  return { baseUrl, apiKey: keys.acme };
}

function readMade(directory: string): z.infer<typeof madeShape> {
  const made = madeShape.safeParse(readJson(localFolder(directory).credentials));
  if (made.success) return made.data;
  throw new LocalError(`There is no local service in ${path.resolve(directory)}. Make one with: npm start`);
}

/**
 * Takes ports for callers and for operators before anything is made, so that no other program takes them meanwhile. With PORT=0
 * each start gets others, so that many can start concurrently.
 * @param opened releases the ports
 * @returns the environment with their numbers, and what releases them for the service
 * @throws LocalError when a port that the environment names is taken; ConfigError naming every fault of the environment
 */
export async function takePorts(
  env: SettingsOfStart,
  opened: AsyncDisposableStack,
): Promise<{ readonly env: SettingsOfStart; readonly release: () => Promise<void> }> {
  const { PORT, HOST, OPERATIONS_PORT: given, OPERATIONS_HOST } = localConfig(env, newSettings());
  const hold = (port: Promise<HeldPort>) => port.then((held) => opened.adopt(held, (one) => one.release()));
  const callers = await hold(
    PORT === 0 ? holdFreePort(randomInt(...anyPorts), HOST) : holdNamed(PORT, HOST, ''),
  );
  const operators = await hold(
    given
      ? holdNamed(given, OPERATIONS_HOST, 'OPERATIONS_')
      : holdFreePort(PORT === 0 ? callers.port + 1 : operationsPort, OPERATIONS_HOST),
  );
  return {
    env: { ...env, PORT: String(callers.port), OPERATIONS_PORT: String(operators.port) },
    release: async () => void (await Promise.all([callers.release(), operators.release()])),
  };
}

// In the range that Prometheus exporters use by convention.
const operationsPort = 9_464;
// Below the range of ephemeral ports.
const anyPorts = [10_000, 30_000] as const;

async function holdNamed(port: number, host: string, prefix: string): Promise<HeldPort> {
  const held = await holdPort(port, host);
  if (typeof held !== 'string') return held;
  const refusal = refusals[held]?.({ port, host, prefix });
  throw new LocalError(refusal ?? `Cannot listen on ${host}:${port} (${held}).`);
}

type Refused = { readonly port: number; readonly host: string; readonly prefix: string };

const refusals: Readonly<Record<string, (refused: Refused) => string>> = {
  EADDRINUSE: ({ port, prefix }) =>
    `Port ${port} is taken by another program. Choose another one: ${prefix}PORT=${port + 1} npm start`,
  EACCES: ({ port, prefix }) =>
    `Port ${port} is reserved for the system. Choose one above 1023: ${prefix}PORT=3000 npm start`,
  EADDRNOTAVAIL: ({ host, prefix }) => `${prefix}HOST is ${host}, which is no address of this machine.`,
};

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

/** Returns the kept settings, or new settings where none are kept. @throws LocalError when the file cannot be read */
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
const newSettings = (): KeptSettings => ({
  postgresPort: 15_432,
  postgresPassword: randomBytes(18).toString('base64url'),
  chainPort: 8_545,
  secretKeys: newKeyRing(),
  cursorKeys: newKeyRing(),
});

function newKeyRing(): string {
  return `local:${randomBytes(32).toString('base64')}`;
}
