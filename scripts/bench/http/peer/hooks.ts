import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { Histogram } from 'prom-client';

/** What every request goes through: its id, the check of its key, and the histogram of durations. */
export function addHooks(server: FastifyInstance, { known, lookUp }: KeyCheck): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time of a request.',
    labelNames: ['operation', 'status'],
  });
  server.decorateRequest('caller', null);
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    reply.header('Cache-Control', 'no-store');
    const key = request.headers['x-api-key'];
    const refuse = () => reply.code(401).send({ code: 'api_key_invalid' });
    if (typeof key !== 'string') return void refuse();
    request.caller = known(key) ?? null;
    // A known key waits for nothing.
    if (request.caller !== null) return done();
    lookUp(key).then((caller) => {
      if (caller === undefined) return void refuse();
      request.caller = caller;
      done();
    }, done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.url ?? 'none';
    durations.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1_000);
    done();
  });
}

export type Caller = { readonly keyId: string; readonly companyId: string };

type KeyCheck = {
  /** @returns undefined for a key that was not accepted in the last seconds */
  known(key: string): Caller | undefined;
  /** @returns undefined for a key that is not usable */
  lookUp(key: string): Promise<Caller | undefined>;
};

type Row = { readonly id: string; readonly company_id: string | null };

const cacheMs = 9_000;
const text = `SELECT id, company_id FROM api_keys
  WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`;

/** Checks keys, which are remembered for 9 s by their text, so that a known one is not hashed again. */
export function createKeyCheck(pool: pg.Pool): KeyCheck {
  const accepted = new Map<string, { readonly caller: Caller; readonly until: number }>();
  return {
    known(key) {
      const found = accepted.get(key);
      return found !== undefined && found.until > performance.now() ? found.caller : undefined;
    },
    async lookUp(key) {
      const until = performance.now() + cacheMs;
      const values = [createHash('sha256').update(key).digest()];
      const { rows } = await pool.query<Row>({ name: 'key', text, values });
      const [row] = rows;
      if (row?.company_id == null) return undefined;
      const caller = { keyId: row.id, companyId: row.company_id };
      accepted.set(key, { caller, until });
      return caller;
    },
  };
}
