import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Config, loadConfig } from '../config.ts';
import { type KeptSettings, newSettings, readSettings } from './kept-settings.ts';
import { LocalError } from './local-error.ts';
import { localFolder, readJson } from './local-folder.ts';
import { canListen, firstFreePort } from './ports.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

// With any other of these the sample world would not work.
const fixedSettings = (databaseUrl: string, { secretKeys, cursorKeys }: KeptSettings) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEYS: secretKeys,
  CURSOR_KEYS: cursorKeys,
  KEY_VERIFIER: 'postgres',
  KEY_ENVIRONMENT: 'local',
});

const claimPage = (baseUrl: string) => `${baseUrl}/claim`;

/**
 * The service's settings in local mode. The environment may set what it likes but for the local database,
 * its keys and who verifies API keys.
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
    INDEX_POLL_MS: '200',
    INDEX_READY_LAG: '5',
    CLAIM_BASE_URL: claimPage(PUBLIC_BASE_URL),
    ...given,
    ...fixedSettings(databaseUrl, kept),
  });
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const madeShape = z.object({ databaseUrl: z.string(), baseUrl: z.string() });

/**
 * The settings of the service that the last start left, for commands beside it.
 * @throws LocalError when there was none
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
 * The environment with a port that can be listened on.
 * @throws LocalError when the wanted one cannot; ConfigError naming every fault of the environment
 */
export async function withPort(env: Environment): Promise<Environment> {
  const { PORT, HOST } = localConfig(env, newSettings());
  if (PORT === 0) return { ...env, PORT: String(await firstFreePort(3_000)) };
  const { ok, code } = await canListen(PORT, HOST);
  if (ok) return env;
  throw new LocalError(refusals[code ?? '']?.(PORT, HOST) ?? `Cannot listen on ${HOST}:${PORT} (${code}).`);
}

const refusals: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port) =>
    `Port ${port} is taken by another program. Choose another one: PORT=${port + 1} npm start`,
  EACCES: (port) => `Port ${port} is reserved for the system. Choose one above 1023: PORT=3000 npm start`,
  EADDRNOTAVAIL: (_, host) => `HOST is ${host}, which is no address of this machine.`,
};
