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
  DATABASE_POOL_MAX: {
    schema: wholeSetting(1, 500).default(10),
    about: 'Most connections that this process opens to the database. It opens as many to the replica.',
  },
} as const;
