import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

// With which wallet somebody was admitted, at which price, and where the chains were read. Null for attendees without a wallet.
const attendees = `
  ALTER TABLE attendees
    ADD COLUMN wallet text CHECK (wallet ~ '^0x[0-9a-fA-F]{40}$'),
    ADD COLUMN applied_price numeric CHECK (applied_price >= 0),
    ADD COLUMN blocks jsonb CHECK (jsonb_typeof(blocks) = 'array');
`;

// A token admits once to an event. It is free again when its attendee is removed.
const tokens = `
  CREATE TABLE attendee_tokens (
    event_id uuid NOT NULL,
    chain_id bigint NOT NULL,
    contract text NOT NULL,
    token_id numeric(78) NOT NULL,
    attendee_id text NOT NULL,
    PRIMARY KEY (event_id, chain_id, contract, token_id),
    FOREIGN KEY (event_id, attendee_id) REFERENCES attendees ON DELETE CASCADE
  );
  CREATE INDEX attendee_tokens_of_attendee ON attendee_tokens (event_id, attendee_id);
`;

// A challenge is deleted when it is used, or some time after it has expired.
const challenges = `
  CREATE TABLE event_challenges (
    nonce text PRIMARY KEY,
    company_id text NOT NULL,
    event_id uuid NOT NULL,
    wallet text NOT NULL,
    chain_id bigint NOT NULL,
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX event_challenges_expired ON event_challenges (expires_at);
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, `${attendees}${tokens}${challenges}`);
}

export { down } from '../src/db/schema/forward-only.ts';
