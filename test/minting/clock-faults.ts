import type { Fault, Scene } from './fault-scene.ts';

/** Seconds by which a clock may be wrong; most are less than the day by which searches begin earlier. */
const skews = [-5 * 3_600, -2 * 3_600, -600, -90, 0, 90, 600, 2 * 3_600, 5 * 3_600];

const signed = (seconds: number) => `${seconds < 0 ? '' : '+'}${seconds} s`;

/** By how many seconds the clock of the chain, and the times of rows, are wrong. */
type Skew = { readonly chain: number; readonly rows: number };

/** Sets the clock of the chain, and the times that new rows and all RWAs get, as if the clock of the database were wrong. */
export async function setClocks({ chain, service: { db } }: Scene['setup'], skew: Skew): Promise<void> {
  await chain.call('anvil_setTime', Math.floor(Date.now() / 1_000) + skew.chain);
  const moved = `now() + make_interval(secs => ${skew.rows})`;
  await db.raw(`CREATE OR REPLACE FUNCTION test_clock() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.created_at := ${moved}; RETURN NEW; END $$`);
  for (const table of ['rwas', 'nfts'])
    await db.raw(
      `CREATE OR REPLACE TRIGGER test_clock BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION test_clock()`,
    );
  await db.raw(`UPDATE rwas SET created_at = ${moved}`);
}

/** Lets both clocks jump. @returns what they are, in words */
export async function moveClocks({ setup, chance }: Scene): Promise<string> {
  const skew = { chain: chance.of(skews), rows: chance.of(skews) };
  await setClocks(setup, skew);
  return `clocks: chain ${signed(skew.chain)}, rows ${signed(skew.rows)}`;
}

/** Clocks of the chain and of the database that differ by minutes or hours. */
export const clockFaults: readonly Fault[] = [moveClocks];
