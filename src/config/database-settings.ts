import { z } from 'zod';
import { databaseUrl, wholeSetting } from './setting-forms.ts';

/** Settings of the connections to PostgreSQL. */
export const databaseSettings = {
  DATABASE_URL: {
    schema: databaseUrl,
    about: 'PostgreSQL 15 or later: `postgres://user:password@host:port/database`.',
    secret: true,
  },
  DATABASE_SESSION_URL: {
    schema: databaseUrl.optional(),
    about:
      'Where `DATABASE_URL` leads to a pooler in transaction mode (PgBouncer): the same database without it, for what needs a session of its own.',
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    schema: databaseUrl.optional(),
    about:
      'Role `api`: a streaming replica of the database, without a pooler, for the [reads that may lag](#a-replica-for-reads). Its state holds no start back.',
    secret: true,
  },
  DATABASE_REPLICA_MAX_LAG: {
    schema: wholeSetting(2, 3_600).default(5),
    about:
      'Seconds that an answer from the replica may be behind. A replica that is further behind, or does not answer, is not read from until it is well.',
  },
  DATABASE_REPLICA_POOL_MAX: {
    schema: wholeSetting(1, 500).default(10),
    about: 'Connections to the replica that this process opens at most, beside one that watches it.',
  },
  DATABASE_PREPARED_STATEMENTS: {
    schema: z.enum(['on', 'off']).optional(),
    about:
      'Whether statements are kept under names. By default `on`, and `off` with `DATABASE_SESSION_URL`; PgBouncer keeps them from 1.21 on, with `max_prepared_statements`.',
  },
  DATABASE_LOCK_TIMEOUT_MS: {
    schema: wholeSetting(10, 60_000).default(2_000),
    about:
      'Time that a statement waits for a row that another transaction has locked; then the answer is 503.',
  },
  DATABASE_POOL_MAX: {
    schema: wholeSetting(1, 500).default(10),
    about: 'Connections that this process opens at most.',
  },
} as const;
