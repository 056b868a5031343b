import type { Knex } from 'knex';
import { runStatements } from '../src/db/statements.ts';

/*
 * What operators and keys changed or revealed. Rows are inserted with what they tell of, and never changed: nobody needs
 * more than INSERT and SELECT, and a trigger refuses the rest to everybody. The chain follows some seconds later, in
 * one process at a time, so that no writer waits for another.
 */
const log = `
  CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind text NOT NULL CHECK (actor_kind IN ('operator', 'key')),
    actor text NOT NULL,
    origin text NOT NULL,
    database_user text NOT NULL DEFAULT session_user,
    company_id text,
    action text NOT NULL,
    subject text,
    request_id text,
    details jsonb NOT NULL DEFAULT '{}'
  );
  CREATE INDEX audit_log_time ON audit_log (at);
  CREATE INDEX audit_log_company ON audit_log (company_id, id);
  CREATE INDEX audit_log_action ON audit_log (action, id);
`;

// hash: SHA-256 of the hash before it and of the entry.
const chain = `
  CREATE TABLE audit_chain (
    position bigint PRIMARY KEY,
    entry_id bigint NOT NULL UNIQUE,
    hash bytea NOT NULL CHECK (length(hash) = 32)
  );
`;

const appendOnly = `
  CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% on % is refused: the audit log is append-only', TG_OP, TG_TABLE_NAME
      USING ERRCODE = 'insufficient_privilege';
  END $$;
  CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
  CREATE TRIGGER audit_chain_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_chain
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [log, chain, appendOnly]) await runStatements(knex, part);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead.');
}
