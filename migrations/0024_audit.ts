import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * What operators, keys and holders changed or revealed. A row is inserted in the transaction of what it reports, and never changes:
 * nobody needs more than INSERT and SELECT, and a trigger rejects the rest for everybody. One process at a time extends the
 * chain some seconds later, so that no writer waits for another.
 */
const log = `
  CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind text NOT NULL CHECK (actor_kind IN ('operator', 'key', 'holder')),
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

// A process that serves stores entries of keys and holders. Users of its groups store none of an operator, unless they are
// operators or own the table as well.
const actors = `
  CREATE FUNCTION refuse_forged_operator() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
  DECLARE
    owner oid := (SELECT relowner FROM pg_class WHERE oid = TG_RELID);
  BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname IN ('tallystick_api', 'tallystick_worker', 'tallystick_indexer')
        AND pg_has_role(session_user, oid, 'MEMBER'))
      AND NOT pg_has_role(session_user, owner, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tallystick_operator'
        AND pg_has_role(session_user, oid, 'MEMBER')) THEN
      RAISE EXCEPTION 'permission denied: % stores no entries of operators', session_user
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER audit_log_actor BEFORE INSERT ON audit_log
    FOR EACH ROW WHEN (NEW.actor_kind = 'operator') EXECUTE FUNCTION refuse_forged_operator();
`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [log, chain, appendOnly, actors]) await runStatements(knex, part);
}
