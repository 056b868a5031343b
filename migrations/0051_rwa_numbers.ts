import type { Knex } from 'knex';
import { runStatements } from '../src/db/connection/statements.ts';

export { down } from '../src/db/schema/forward-only.ts';

/*
 * The number of a new RWA holds its time in milliseconds above 21 random bits, as a UUID of version 7 does. So no restored database
 * and no second installation gives the number again, and lists keep their order. The sequence has no use any more: the release
 * before grants rights on it.
 */
const numbers = `
  CREATE OR REPLACE FUNCTION new_rwa_number(at timestamptz) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (floor(extract(epoch FROM at) * 1000)::bigint << 21) + floor(random() * 2097152)::bigint
  $$;
  ALTER TABLE rwas
    ALTER COLUMN number DROP IDENTITY IF EXISTS,
    ALTER COLUMN number SET DEFAULT new_rwa_number(clock_timestamp()),
    ADD COLUMN IF NOT EXISTS final_block numeric(78) NOT NULL DEFAULT 0;
  CREATE SEQUENCE IF NOT EXISTS rwas_number_seq OWNED BY rwas.number;
`;

/*
 * The block of the RWA's network that was final when the RWA was made, 0 without one: no token of the RWA is minted up to
 * there. The trigger writes it for the release before, too.
 */
const finalBlocks = `
  CREATE OR REPLACE FUNCTION note_final_block() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.final_block := coalesce((SELECT number FROM network_finality WHERE chain_id = NEW.chain_id), 0);
    RETURN NEW;
  END $$;
  CREATE OR REPLACE TRIGGER rwas_final_block BEFORE INSERT OR UPDATE OF chain_id ON rwas
    FOR EACH ROW EXECUTE FUNCTION note_final_block();
`;

// A recovery has told of all tokens up to its block that no row had: they are of lost RWAs, whose numbers were given again.
const recovered = `
  UPDATE rwas r SET final_block = m.recovered_to FROM mint_contracts m
  WHERE m.chain_id = r.chain_id AND m.contract = r.contract_address AND m.recovered_to IS NOT NULL
    AND r.number < 1152921504606846976;
`;

export async function up(knex: Knex): Promise<void> {
  await runStatements(knex, numbers);
  await runStatements(knex, finalBlocks);
  await runStatements(knex, recovered);
}
