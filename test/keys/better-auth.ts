import { randomUUID } from 'node:crypto';
import { apiKey } from '@better-auth/api-key';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { Pool } from 'pg';
import { type AuthServer, startAuthServer } from './auth-server.ts';

export type BetterAuthServer = AuthServer & {
  /** Keys by its own API; `remaining` and `rateLimitMax` limit what it lets through. */
  issue(options: {
    owner: 'company' | 'person';
    remaining?: number;
    rateLimitMax?: number;
  }): Promise<{ key: string; id: string; companyId: string | null }>;
  disable(keyId: string): Promise<void>;
  /** Gives a key the permissions that scopes are there, and no others; null takes all. */
  permit(keyId: string, scopes: readonly string[] | null): Promise<void>;
  expire(keyId: string, at: Date): Promise<void>;
  /** Takes away its storage, and gives it back. */
  breakStorage(): Promise<void>;
  mendStorage(): Promise<void>;
};

/**
 * A real Better Auth with its API-key plugin on Postgres. As its maker describes, the server-side
 * `verifyApiKey` gets one route; that route leaves out the owner of keys that belong to a person.
 */
export async function startBetterAuth(databaseUrl: string): Promise<BetterAuthServer> {
  const pool = new Pool({ connectionString: databaseUrl, max: 5 }).on('error', () => {});
  const auth = createAuth(pool);
  const { runMigrations } = await getMigrations(auth.options);
  await runMigrations();
  const users = { company: await signUp(auth, 'company'), person: await signUp(auth, 'person') };

  const server = await startAuthServer(async (key) => {
    const answer = await auth.api.verifyApiKey({ body: { key } });
    const personal = answer.key?.configId === 'personal';
    return personal ? { ...answer, key: { ...answer.key, referenceId: null } } : answer;
  });

  return {
    url: server.url,
    async issue({ owner, remaining, rateLimitMax }) {
      const configId = owner === 'company' ? 'default' : 'personal';
      const limits = {
        ...(remaining === undefined ? {} : { remaining }),
        ...(rateLimitMax === undefined ? {} : { rateLimitMax, rateLimitTimeWindow: 60_000 }),
        rateLimitEnabled: rateLimitMax !== undefined,
      };
      const made = await auth.api.createApiKey({ body: { configId, userId: users[owner], ...limits } });
      return { key: made.key, id: made.id, companyId: owner === 'company' ? users.company : null };
    },
    async disable(keyId) {
      await auth.api.updateApiKey({ body: { keyId, userId: users.company, enabled: false } });
    },
    async permit(keyId, scopes) {
      const permissions = scopes === null ? null : permissionsOf(scopes);
      await auth.api.updateApiKey({ body: { keyId, userId: users.company, permissions } });
    },
    async expire(keyId, at) {
      // Its API takes no less than a day and no past.
      await pool.query('UPDATE apikey SET "expiresAt" = $2 WHERE id = $1', [keyId, at]);
    },
    breakStorage: async () => void (await pool.query('ALTER TABLE apikey RENAME TO apikey_gone')),
    mendStorage: async () => void (await pool.query('ALTER TABLE apikey_gone RENAME TO apikey')),
    async close() {
      await server.close();
      await pool.end();
    },
  };
}

function permissionsOf(scopes: readonly string[]): Record<string, string[]> {
  const pairs = scopes.map((scope) => scope.split(':') as [string, string]); // the form of a scope
  const resources = [...new Set(pairs.map(([resource]) => resource))];
  const actionsOf = (of: string) => pairs.flatMap(([resource, action]) => (resource === of ? [action] : []));
  return Object.fromEntries(resources.map((resource) => [resource, actionsOf(resource)]));
}

type Auth = ReturnType<typeof createAuth>;

function createAuth(pool: Pool) {
  return betterAuth({
    database: pool,
    baseURL: 'http://127.0.0.1',
    secret: randomUUID() + randomUUID(),
    emailAndPassword: { enabled: true },
    logger: { disabled: true },
    telemetry: { enabled: false },
    plugins: [apiKey([{ configId: 'default' }, { configId: 'personal' }])],
  });
}

async function signUp(auth: Auth, name: string): Promise<string> {
  const body = { name, email: `${name}@example.com`, password: randomUUID() };
  const { user } = await auth.api.signUpEmail({ body });
  return user.id;
}
