import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

// `company_id` refers to no table: with a remote authentication service the companies live there.
export async function up(knex: Knex): Promise<void> {
  await runStatements(
    knex,
    `
    CREATE TABLE events (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      company_id text NOT NULL,
      name text NOT NULL,
      location text,
      description text,
      program text,
      start_date timestamptz,
      end_date timestamptz,
      max_attendees integer CHECK (max_attendees >= 0),
      price numeric CHECK (price >= 0),
      currency text,
      discount_price numeric CHECK (discount_price >= 0),
      discount_percentage numeric CHECK (discount_percentage BETWEEN 0 AND 100),
      contract_required_to_attend text[] NOT NULL DEFAULT '{}',
      contract_required_to_discount text[] NOT NULL DEFAULT '{}',
      cover_image text,
      gallery_images text[] NOT NULL DEFAULT '{}',
      chain_id bigint REFERENCES networks,
      total_attendees integer NOT NULL DEFAULT 0 CHECK (total_attendees >= 0),
      version integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (company_id, id),
      CHECK (end_date >= start_date),
      CHECK (discount_price <= price),
      CHECK (total_attendees <= max_attendees)
    );
    CREATE INDEX events_newest ON events (company_id, created_at DESC, id DESC);
    CREATE INDEX events_start ON events (company_id, start_date);
    CREATE INDEX events_chain ON events (chain_id);

    CREATE TABLE attendees (
      company_id text NOT NULL,
      event_id uuid NOT NULL,
      attendee_id text NOT NULL CHECK (length(attendee_id) BETWEEN 1 AND 255),
      seq bigint GENERATED ALWAYS AS IDENTITY,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (event_id, attendee_id),
      FOREIGN KEY (company_id, event_id) REFERENCES events (company_id, id) ON DELETE CASCADE
    );
    CREATE INDEX attendees_registration ON attendees (company_id, event_id, seq);
  `,
  );
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
