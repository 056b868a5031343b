import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { type Environment, loadConfig } from '../../src/config/config.ts';
import { secretTexts } from '../../src/service/secret-settings.ts';
import { startService } from '../../src/service/service.ts';
import { startHttpServer } from '../keys/auth-server.ts';
import { addRwa } from '../rwa/samples.ts';
import { startCollector } from '../support/collector.ts';
import { test } from '../support/fixtures.ts';
import { populate } from '../support/serving.ts';

const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const canary = (name: string) => `canary-${name}-0f1e2d3c4b5a`;
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');

/** All rows of all tables, as text; bytes in hex. */
async function dump(db: Knex): Promise<string> {
  const { rows: tables } = await db.raw(
    `SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts = [];
  for (const { name } of tables) {
    const { rows } = await db.raw(`SELECT t::text FROM ${name} t`);
    texts.push(...rows.map((row: { t: string }) => `${name} ${row.t}`));
  }
  return texts.join('\n');
}

const forms = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
];
const foundIn = (text: string, secrets: Readonly<Record<string, string>>) =>
  Object.entries(secrets).flatMap(([name, secret]) =>
    forms(secret)
      .filter((form) => text.includes(form))
      .map((form) => {
        const at = text.indexOf(form);
        return `${name}: …${text.slice(Math.max(0, at - 160), at + form.length + 40)}…`;
      }),
  );

describe('secrets that are planted everywhere', () => {
  test('are found nowhere, whatever fails', async ({ db, databaseUrl }) => {
    // Whoever is asked fails, and says back all that it was told; only what chain it serves, a node says rightly.
    const echo = await startHttpServer((request, response, body) => {
      const said = JSON.stringify({ message: `${request.url} ${JSON.stringify(request.headers)} ${body}` });
      const { id, method } = body.startsWith('{') ? JSON.parse(body) : {};
      if (method === 'eth_chainId') {
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x7a69' }));
        return;
      }
      // A provider that refuses names the key, and what a node answers is kept and logged.
      if (method !== undefined && method !== 'eth_blockNumber') {
        const error = { code: -32005, message: `Too many requests: ${said}`, data: said };
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        return;
      }
      response.writeHead(500, { 'content-type': 'application/json' }).end(said);
    });
    const collector = await startCollector();
    const { host } = new URL(echo.url);
    const node = `http://${canary('node-user')}:${canary('node-password')}@${host}/v2/${canary('node-path')}?k=${canary('node-query')}`;
    const dead = `http://127.0.0.1:9/${canary('dead-path')}`;
    const { keys, companies } = await populate(db, {
      rpcUrl: node,
      moralis: { baseUrl: echo.url, apiKey: canary('moralis') },
    });
    await db('networks')
      .where({ chain_id: 1 })
      .update({ rpc_urls: [dead, node] });
    const env: Environment = {
      DATABASE_URL: databaseUrl,
      SECRET_KEYS: `a:${key(41)}`,
      CURSOR_KEYS: `b:${key(42)}`,
      MORALIS_API_KEY: canary('moralis'),
      MORALIS_BASE_URL: echo.url,
      RPC_TIMEOUT_MS: '300',
      KEY_ENVIRONMENT: 'test',
      HOST: '127.0.0.1',
      PORT: '0',
      OPERATIONS_PORT: '0',
      DRAIN_SECONDS: '0',
      SHUTDOWN_SECONDS: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${canary('collector')}`,
    };
    const lines: string[] = [];
    const log = createLogger({
      level: 'trace',
      destination: { write: (line: string) => void lines.push(line) },
      secrets: secretTexts(env),
    });
    const service = await startService(
      loadConfig(env, { providerTimeoutMs: 300, providerDeadlineMs: 1_000 }),
      log,
    );
    const answers: string[] = [];
    const send = async (path: string, { headers = {}, ...init }: RequestInit = {}) => {
      const answer = await fetch(`http://127.0.0.1:${service.port}${path}`, {
        headers: { 'x-api-key': keys.acme, 'content-type': 'application/json', ...headers },
        ...init,
      });
      const text = await answer.text();
      answers.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${text}`);
      return { status: answer.status, text };
    };
    const post = (path: string, body: object, headers = {}) =>
      send(path, { method: 'POST', body: JSON.stringify(body), headers });

    const rwa = await addRwa(db, companies.acme, { isClaimable: true, claimPage: true });
    const mint = () => post(`/v1/api/rwa/${rwa.id}/mint`, {}, { 'idempotency-key': 'once' });
    const { nftId } = JSON.parse((await mint()).text);
    await mint();
    // What is meant to be seen: a company reads the secret of its own NFT.
    const shown: string = JSON.parse((await send(`/v1/api/nft/${nftId}`)).text).secret;
    expect(shown).toMatch(/^.{22,}$/);
    answers.length = 0;

    await post(`/v1/api/nft/${nftId}/mint`, { secret: canary('wrong-secret'), recipient: wallet });
    await post(`/v1/api/nft/${nftId}/mint`, { secret: shown, recipient: 'nowhere' });
    await post(`/v1/api/rwa/${rwa.id}/mint`, { password: canary('unknown-field') });
    const held = `/claim/v1/api/claims/${nftId}`;
    expect((await post(`${held}/state`, { secret: shown })).status).toBe(200);
    await post(`${held}/state`, { secret: canary('wrong-secret') });
    await post(held, { secret: shown, recipient: wallet });
    const asked = `chainId=1&address=${wallet}`;
    for (const path of ['wallet/history', 'nft', 'token/balance']) {
      await send(`/blockchain/v1/api/${path}?${asked}`);
      await send(`/blockchain/v1/api/${path}?chainId=31337&address=${wallet}`);
      await send(`/blockchain/v1/api/${path}?${asked}&apiKey=${canary('in-query')}`);
      await send(`/blockchain/v1/api/${path}?${asked}&cursor=${canary('cursor')}`);
    }
    const unknown = `tk_test_${'Z'.repeat(36)}`;
    await send('/v1/api/rwa', { headers: { 'x-api-key': unknown } });
    await send('/v1/api/rwa', { headers: { 'x-api-key': canary('no-key'), 'x-request-id': 'named' } });
    await send(`/v1/api/${canary('path')}`);
    // A fault of the service itself: a table that is not there.
    await db.raw('ALTER TABLE rwas RENAME TO elsewhere');
    expect((await send('/v1/api/rwa')).status).toBe(500);
    await db.raw('ALTER TABLE elsewhere RENAME TO rwas');
    const operators = `http://127.0.0.1:${service.operationsPort}`;
    const told = [
      await (await fetch(`${operators}/metrics`)).text(),
      await (await fetch(`${operators}/readyz`)).text(),
    ];
    await service.stop();

    const secrets = {
      claimSecret: shown,
      apiKey: keys.acme,
      unknownKey: unknown,
      moralis: canary('moralis'),
      secretKey: key(41),
      cursorKey: key(42),
      noKey: canary('no-key'),
      wrong: canary('wrong-secret'),
      field: canary('unknown-field'),
      query: canary('in-query'),
      cursor: canary('cursor'),
      user: canary('node-user'),
      password: canary('node-password'),
      nodePath: canary('node-path'),
      nodeQuery: canary('node-query'),
      dead: canary('dead-path'),
      path: canary('path'),
    };
    expect(lines.length).toBeGreaterThan(20);
    expect(foundIn(lines.join(''), { ...secrets, collector: canary('collector') })).toEqual([]);
    expect(foundIn(answers.join('\n'), secrets)).toEqual([]);
    expect(foundIn(told.join('\n'), secrets)).toEqual([]);
    // Addresses of nodes stand there in clear, since this test wrote them past the command that seals them.
    const { user: _u, password: _p, nodePath: _n, nodeQuery: _q, dead: _d, ...stored } = secrets;
    expect(foundIn(await dump(db), stored)).toEqual([]);
    // In spans there is what was called: nothing of it is a secret. Their own headers have that of the collector.
    const names = new Set(collector.spans.map(({ name }) => name));
    for (const name of ['POST /v1/api/nft/{id}/mint', 'eth_blockNumber', 'GET', 'INSERT'])
      expect([...names]).toContain(name);
    expect(collector.requests.length).toBeGreaterThan(0);
    expect(foundIn(collector.requests.join('\n'), secrets)).toEqual([]);
    await Promise.all([echo.close(), collector.close()]);
  });
});
