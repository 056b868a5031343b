import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { testWith } from '../support/fixtures.ts';

const events = '/events/v1/api/event';
const test = testWith({ fixed: { maxAnswerBytes: 4 * 1024 * 1024 } });

/** The status that a caller gets who asks and then reads nothing more. */
async function askOnly(port: number, path: string, key: string) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`);
  const [data] = await once(socket, 'data');
  socket.pause();
  return data.toString('latin1').slice(9, 12);
}

test('lists that nobody reads take a part of the memory for answers, and those of another company are sent', async ({
  db,
  globex,
  service,
}) => {
  const { acme } = service.companies;
  await db.raw(
    `INSERT INTO events (company_id, name, description, start_date)
     SELECT id, 'event ' || n, repeat('x', 29000), timestamptz '2027-01-01'
     FROM unnest(?::text[]) AS id, generate_series(1, 400) AS n`,
    [[acme, service.companies.globex]],
  );
  const port = Number(new URL(service.baseUrl).port);
  const statuses: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    statuses.push(await askOnly(port, events, service.keys.acme));
  }
  // Each is over 10 MB, of which some 0.6 are in memory at a time; a company has half of what there is.
  expect(statuses[0]).toBe('200');
  expect(statuses.filter((status) => status === '200').length).toBeLessThan(5);
  expect(statuses.at(-1)).toBe('503');
  expect((await globex.get(events).expect(200)).body).toHaveLength(400);
});
