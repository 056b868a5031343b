import { Writable } from 'node:stream';
import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createOutageLog } from '../../src/db/connection/outage-log.ts';
import { startGate } from '../keys/tcp-gate.ts';
import { closing } from '../support/closing.ts';
import { test } from '../support/fixtures.ts';
import { openPool } from '../support/open-pool.ts';
import { waitFor } from '../support/wait-for.ts';

test('an outage is one line when it begins and one when it is over, with what failed between', async ({
  databaseUrl,
}) => {
  const lines: { msg: string; failures?: number }[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const gate = closing(await startGate(databaseUrl));
  const log = createLogger({ level: 'info', destination });
  const db = openPool(gate.through(databaseUrl), { poolMax: 4, log });
  const ask = () => db.raw('SELECT 1');
  await Promise.all([ask(), ask(), ask(), ask()]);
  gate.refuse();
  for (let round = 0; round < 20; round += 1) await Promise.allSettled([ask(), ask(), ask(), ask()]);
  gate.open();
  await waitFor(ask);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'database connections fail',
    'database connections are to be had again',
  ]);
  expect(lines[1]?.failures).toBeGreaterThan(20);
});

test('an outage after one connection was lost, and none was opened since, is told as well', () => {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => lines.push(JSON.parse(line).msg) },
  });
  let now = 0;
  const outages = createOutageLog(log, () => now);
  outages.failed('lost');
  outages.failed('lost');
  now = 3_600_000;
  outages.failed('gone');
  outages.opened();
  expect(lines).toEqual([
    'database connections fail',
    'database connections fail',
    'database connections are to be had again',
  ]);
});
