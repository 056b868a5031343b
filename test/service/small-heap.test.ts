import { connect } from 'node:net';
import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { startProcess } from '../support/process.ts';

const wallet = `0x${'a1'.repeat(20)}`;
const contract = Buffer.from('70'.repeat(20), 'hex');
const ringKey = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** A hundred NFTs of one wallet with as much metadata as are kept, and a hundred large events. */
async function insertMuch(db: import('knex').Knex, companyId: string): Promise<void> {
  const head = { start_block: 0, head_number: 9, head_hash: Buffer.alloc(32, 7), head_time: new Date() };
  await db('index_state').insert({ chain_id: '31337', ...head });
  const metadata = JSON.stringify({ name: 'Cask', description: '"'.repeat(30_000) });
  const key = { chain_id: '31337', contract, standard: 721 };
  for (let id = 0; id < 100; id += 1) {
    await db('nft_tokens').insert({ ...key, token_id: id, metadata });
    await db('nft_holdings').insert({
      ...{ ...key, token_id: id, amount: 1, wallet: Buffer.from(wallet.slice(2), 'hex') },
      ...{ acquired_block: 5, acquired_log: id, changed_block: 5 },
    });
  }
  await db.raw(
    `INSERT INTO events (company_id, name, description)
     SELECT ?, 'event ' || n, repeat('x', 90000) FROM generate_series(1, 300) AS n`,
    [companyId],
  );
}

const startSmall = (databaseUrl: string) =>
  startProcess(['--max-old-space-size=200', 'src/main.ts'], {
    DATABASE_URL: databaseUrl,
    SECRET_KEYS: ringKey,
    CURSOR_KEYS: ringKey,
    KEY_ENVIRONMENT: 'test',
    HOST: '127.0.0.1',
    PORT: '0',
    ROLES: 'api',
  });

test('twelve callers of the largest lists are answered by a process with a heap of 200 MB', async ({
  db,
  databaseUrl,
  service,
}) => {
  await insertMuch(db, service.companies.acme);
  const replica = startSmall(databaseUrl);
  const [, port = ''] = await replica.until(/"port":(\d+)/);
  const base = `http://127.0.0.1:${port}`;
  const ask = async (path: string) => {
    const response = await fetch(base + path, { headers: { 'x-api-key': service.keys.acme } });
    const body: unknown = await response.json();
    return { status: response.status, body };
  };
  const lists = [`/blockchain/v1/api/nft?chainId=31337&address=${wallet}`, '/events/v1/api/event'];
  for (const list of lists) {
    const answers = await Promise.all([
      ...Array.from({ length: 12 }, () => ask(list)),
      fetch(`${base}/healthz`).then(async ({ status }) => ({ status, body: undefined })),
    ]);
    for (const { status } of answers) expect([200, 503]).toContain(status);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(1);
    expect(answers.at(-1)?.status).toBe(200);
  }
  expect(replica.child.exitCode).toBeNull();
  replica.child.kill('SIGTERM');
  expect(await replica.ended).toBe(0);
});

test('a stranger whose connections send ahead as much as they may ends no process with a heap of 200 MB', async ({
  databaseUrl,
}) => {
  const replica = startSmall(databaseUrl);
  const [, port = ''] = await replica.until(/"port":(\d+)/);
  // All but the first wait for it, which is answered at a pace.
  const head = `GET /claim/x HTTP/1.1\r\nhost: localhost\r\nlong: ${'x'.repeat(14_000)}\r\n\r\n`;
  const ahead = Buffer.from(head.repeat(8));
  const callers = Array.from({ length: 900 }, () => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    socket.resume().write(ahead);
    return socket;
  });
  await Promise.all(callers.map((socket) => new Promise((closed) => socket.once('close', closed))));
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  replica.child.kill('SIGTERM');
  expect(await replica.ended).toBe(0);
});
