import { createSecretKey, randomUUID } from 'node:crypto';
import fastify from 'fastify';
import pg from 'pg';
import { createBalances } from './balances.ts';
import { addHooks, createKeyCheck } from './hooks.ts';
import { createReads } from './reads.ts';
import { addRoutes } from './routes.ts';
import { createWrites } from './writes.ts';

/*
 * What a team writes by hand that does not choose the service: Fastify with the schemas of the documents, a key check
 * with a cache, request ids, a histogram of durations, and named prepared statements, one for each request but lists. It
 * serves what is measured, and leaves out everything else that the service does: other operations and areas, deadlines,
 * shedding of load, fair shares, limits of memory, problems of RFC 9457, idempotency.
 */

const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
};

// Without jit like the sessions of the service: it costs short statements more than it gives.
const pool = new pg.Pool({ connectionString: env('DATABASE_URL'), max: 10, options: '-c jit=off' });
const [id = '', encoded = ''] = env('SECRET_KEYS').split(':');
const key = createSecretKey(Buffer.from(encoded, 'base64'));
const app = fastify({
  logger: false,
  genReqId: () => randomUUID(),
  ajv: { customOptions: { strict: false, coerceTypes: true, removeAdditional: false } },
});
app.get('/readyz', async () => {
  await pool.query('SELECT 1');
  return { status: 'ready' };
});
await app.register(async (server) => {
  addHooks(server, createKeyCheck(pool));
  addRoutes(server, {
    balanceOf: createBalances(pool),
    reads: createReads(pool, key),
    writes: createWrites(pool, { id, key }),
  });
});
await app.listen({ host: env('HOST'), port: Number(env('PORT')) });

process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
