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
      'The same database without the pooler, for what needs a session of its own. Set it when `DATABASE_URL` leads to PgBouncer in transaction mode.',
    secret: true,
  },
  DATABASE_REPLICA_URL: {
    schema: databaseUrl.optional(),
    about:
      'Role `api`: a streaming replica of the database, without a pooler, for the [reads that may lag](database.md#a-replica-for-reads). A start does not wait for it.',
    secret: true,
  },
  DATABASE_REPLICA_MAX_LAG: {
    schema: wholeSetting(2, 3_600).default(5),
    about:
      'Seconds that an answer from the replica may be behind. A replica that is further behind, or does not answer, is not used until it recovers.',
  },
  DATABASE_PREPARED_STATEMENTS: {
    schema: z.enum(['on', 'off']).optional(),
    about:
      'Whether statements are prepared. The default is `on`, or `off` with `DATABASE_SESSION_URL`. PgBouncer supports prepared statements from 1.21, with `max_prepared_statements`.',
  },
  DATABASE_LOCK_TIMEOUT_MS: {
    schema: wholeSetting(10, 60_000).default(2_000),
    about: 'Time that a statement waits for a locked row. After that the answer is 503.',
  },
  DATABASE_POOL_MAX: {
    schema: wholeSetting(1, 500).default(10),
    about: 'Most connections that this process opens to the database. It opens as many to the replica.',
  },
} as const;
