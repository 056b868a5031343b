import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Config, loadConfig } from '../config.ts';
import { type KeptSettings, newSettings, readSettings } from './kept-settings.ts';
import { LocalError } from './programs/local-error.ts';
import { localFolder, readJson } from './programs/local-folder.ts';
import { canListen, firstFreePort } from './programs/ports.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

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
const claimPage = (baseUrl: string) => `${baseUrl}/claim`;

/**
 * The service's settings in local mode. The environment may change every setting but those of the database, the
 * encryption keys and the verification of API keys.
 * @throws ConfigError naming every fault of the environment
 */
export function localConfig(
  env: Environment,
  kept: KeptSettings,
  databaseUrl = 'postgres://not.started.yet/',
): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value));
  const { PORT = '3000', PUBLIC_BASE_URL = `http://localhost:${PORT}` } = given;
  return loadConfig({
    HOST: '127.0.0.1',
    PORT,
    RATE_LIMIT_PER_SECOND: '0',
    UNKNOWN_KEYS_PER_MINUTE: '0',
    // No load balancer has to notice a stop.
    DRAIN_SECONDS: '0',
    INDEX_POLL_MS: '200',
    INDEX_READY_LAG: '5',
    CLAIM_BASE_URL: claimPage(PUBLIC_BASE_URL),
    // This service itself serves the metadata of what is minted here.
    INDEX_METADATA_HOSTS: hostOf(PUBLIC_BASE_URL),
    ...given,
    ...fixedSettings(databaseUrl, kept),
  });
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const madeShape = z.object({ databaseUrl: z.string(), baseUrl: z.string() });

/**
 * The settings of the local service as the last start left them, for commands that run beside it.
 * @throws LocalError when no start has left any
 */
export function readLocalSettings(directory = root): Environment {
  const folder = localFolder(directory);
  const made = madeShape.safeParse(readJson(folder.credentials));
  if (!made.success) {
    throw new LocalError(`There is no local service in ${path.resolve(directory)}. Make one with: npm start`);
  }
  const { databaseUrl, baseUrl } = made.data;
  return {
    PUBLIC_BASE_URL: baseUrl,
    CLAIM_BASE_URL: claimPage(baseUrl),
    ...fixedSettings(databaseUrl, readSettings(folder)),
  };
}

/**
 * The environment with free ports for callers and for operators.
 * @throws LocalError when a port that the environment names is taken; ConfigError naming every fault of the environment
 */
export async function withPorts(env: Environment): Promise<Environment> {
  const { PORT, HOST, OPERATIONS_PORT = 0, OPERATIONS_HOST } = localConfig(env, newSettings());
  const port = await choosePort(PORT || 3_000, PORT !== 0, HOST, '');
  const operations = OPERATIONS_PORT || defaultOperationsPort;
  const chosen = await choosePort(operations, OPERATIONS_PORT !== 0, OPERATIONS_HOST, 'OPERATIONS_');
  return { ...env, PORT: String(port), OPERATIONS_PORT: String(chosen) };
}

// In the range that Prometheus exporters use by convention.
const defaultOperationsPort = 9_464;

async function choosePort(port: number, isWanted: boolean, host: string, prefix: string): Promise<number> {
  if (!isWanted) return firstFreePort(port);
  const { ok, code = '' } = await canListen(port, host);
  if (ok) return port;
  throw new LocalError(
    refusals[code]?.({ port, host, prefix }) ?? `Cannot listen on ${host}:${port} (${code}).`,
  );
}

type Refused = { readonly port: number; readonly host: string; readonly prefix: string };

const refusals: Readonly<Record<string, (refused: Refused) => string>> = {
  EADDRINUSE: ({ port, prefix }) =>
    `Port ${port} is taken by another program. Choose another one: ${prefix}PORT=${port + 1} npm start`,
  EACCES: ({ port, prefix }) =>
    `Port ${port} is reserved for the system. Choose one above 1023: ${prefix}PORT=3000 npm start`,
  EADDRNOTAVAIL: ({ host, prefix }) => `${prefix}HOST is ${host}, which is no address of this machine.`,
};
