import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * Addresses that news are sent to. `position` is how far the feed was taken over into deliveries. `secrets` has the newest first,
 * each `key id:base64`; the second one signs until `previous_until`. `paused_until` is what an answer's `Retry-After` asked for.
 */
const endpoints = `
  CREATE TABLE news_endpoints (
    id uuid PRIMARY KEY,
    company_id text NOT NULL,
    url text NOT NULL,
    types text[],
    secrets text[] NOT NULL,
    previous_until timestamptz,
    first_position bigint NOT NULL,
    position bigint NOT NULL,
    disabled_reason text CHECK (disabled_reason IN ('requested', 'gone', 'failing', 'outdated')),
    failing_since timestamptz,
    paused_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX news_endpoints_of_company ON news_endpoints (company_id, created_at, id);
`;

/* What was sent to each, and what waits. The next news of a subject waits for the one before it. */
const deliveries = `
  CREATE TABLE news_deliveries (
    endpoint_id uuid NOT NULL REFERENCES news_endpoints ON DELETE CASCADE,
    position bigint NOT NULL,
    subject uuid NOT NULL,
    delivered boolean NOT NULL DEFAULT false,
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempted_at timestamptz,
    status integer,
    error text,
    answer text,
    PRIMARY KEY (endpoint_id, position)
  );
  CREATE INDEX news_deliveries_pending ON news_deliveries (endpoint_id, position) WHERE NOT delivered;
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [endpoints, deliveries]) await runStatements(knex, part);
}
