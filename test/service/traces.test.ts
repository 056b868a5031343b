import { Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { addRwa } from '../rwa/samples.ts';
import { type Answer, type CollectedSpan, startCollector } from '../support/collector.ts';
import { perFile } from '../support/fixtures.ts';
import { keystoreSettings } from '../support/keystore-settings.ts';
import { test as base } from '../support/mint-fixtures.ts';
import { until } from '../support/minting.ts';
import { startNode } from '../support/node/node.ts';
import { freePort } from '../support/postgres.ts';
import { processSettings, type RunningProcess, startProcess } from '../support/process.ts';
import { populate } from '../support/serving.ts';

const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const test = base.extend('world', perFile, async ({ db, databaseUrl, mintChain }, { onCleanup }) => {
  const node = await startNode(mintChain.rpcUrl);
  onCleanup(() => node.close());
  const { keys, companies } = await populate(db, { rpcUrl: node.url });
  await db('networks').update({ minter_contract: mintChain.contract, confirmations: 1 });
  await db('mint_lanes').update({ signer: new Wallet(mintChain.keys[0] ?? '').address });
  const more = { isClaimable: true, contractAddress: mintChain.contract };
  const rwa = await addRwa(db, companies.acme, more);
  const settings = { ...processSettings(databaseUrl), KEY_ENVIRONMENT: 'test', SHUTDOWN_SECONDS: '5' };
  /** Starts a process of the service, which is killed at the end of the run whatever happens. */
  const start = (more: Record<string, string>, flags: readonly string[] = []) =>
    startProcess([...flags, 'src/main.ts'], { ...settings, ...more });
  return { start, keys, rwa, signer: await keystoreSettings(mintChain.chainId, mintChain.keys[0] ?? '') };
});

async function portOf(process: RunningProcess): Promise<number> {
  const [, port] = await process.until(/"port":(\d+)/);
  return Number(port);
}

async function stop(process: RunningProcess): Promise<number> {
  const begun = performance.now();
  process.child.kill('SIGTERM');
  expect(await process.ended).toBe(0);
  return performance.now() - begun;
}

const lines = (process: RunningProcess): Record<string, unknown>[] =>
  process
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** From a span up to where its trace begins here. */
function wayUp(spans: readonly CollectedSpan[], from: CollectedSpan | undefined): string[] {
  if (from === undefined) return [];
  return [
    from.name,
    ...wayUp(
      spans,
      spans.find(({ spanId }) => spanId === from.parentSpanId),
    ),
  ];
}

/** Makes a process say which files of OpenTelemetry it loads, but those of the API, which prom-client uses. */
const sayLoaded = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (/@opentelemetry.(?!api)/.test(url)) console.log('loads', url);
    return next(url, context);
  } });`)}`;

describe('traces', () => {
  test('lead from the request that a mint was asked for by, through job and lane, to the node', async ({
    world,
  }) => {
    const collector = await startCollector();
    const headers = 'authorization=Bearer%20canary-of-the-collector';
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: headers };
    const worker = world.start({ ...traced, ...world.signer, ROLES: 'worker' });
    const api = world.start({ ...traced, ROLES: 'api' });
    const port = await portOf(api);
    await worker.until(/service started/);

    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const answer = await fetch(`http://127.0.0.1:${port}/v1/api/rwa/${world.rwa.id}/mint`, {
      method: 'POST',
      body: JSON.stringify({ recipient }),
      headers: {
        'x-api-key': world.keys.acme,
        'content-type': 'application/json',
        'x-request-id': 'traced-mint',
        traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
      },
    });
    expect(answer.status).toBe(200);
    const own = () => collector.spans.filter((span) => span.traceId === traceId);
    const named = (name: string) => own().find((span) => span.name === name);
    await until('the transaction in the trace', async () => named('eth_sendRawTransaction') !== undefined);
    await until('the job in the trace', async () => named('process mint-nft') !== undefined);
    await until('the request in the trace', async () => own().some(({ kind }) => kind === 2));
    await Promise.all([stop(api), stop(worker)]);

    const request = own().find(({ kind }) => kind === 2);
    expect(request).toMatchObject({
      name: 'POST /v1/api/rwa/{id}/mint',
      parentSpanId: '00f067aa0ba902b7',
      attributes: {
        'http.route': '/v1/api/rwa/{id}/mint',
        'http.response.status_code': 200,
        'tallystick.operation': 'createAndMintNft',
        'tallystick.request_id': 'traced-mint',
        'tallystick.company_id': world.rwa.companyId,
      },
      isFailed: false,
    });
    const sent = wayUp(own(), named('eth_sendRawTransaction'));
    expect(sent.slice(0, 2)).toEqual(['eth_sendRawTransaction', 'poll mint lane']);
    expect(sent.at(-1)).toBe(request?.name);
    expect(wayUp(own(), named('process mint-nft'))).toEqual(['process mint-nft', request?.name]);
    const statements = own().filter((span) => span.attributes['db.system.name'] === 'postgresql');
    for (const name of ['BEGIN', 'INSERT', 'COMMIT', 'SELECT'])
      expect(statements.map((each) => each.name)).toContain(name);
    expect(statements.length).toBeGreaterThan(5);
    // The log leads to the trace, and nothing of the credential for the collector into it.
    expect(lines(api).find(({ msg }) => msg === 'request')).toMatchObject({
      requestId: 'traced-mint',
      traceId,
    });
    expect(api.output() + worker.output()).not.toContain('canary-of-the-collector');
    expect(collector.requests[0]).toContain('Bearer canary-of-the-collector');
    await collector.close();
  });

  test('are not begun for anybody, nor is anything of them loaded, without a collector', async ({
    world,
  }) => {
    const loaded = async (settings: Record<string, string>) => {
      const api = world.start({ ROLES: 'api', ...settings }, ['--import', sayLoaded]);
      await portOf(api);
      await stop(api);
      return api.output().includes('loads file:');
    };
    const closed = `http://127.0.0.1:${await freePort()}`;
    expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: closed })).toBe(true);
    expect(await loaded({ OTEL_TRACES_SAMPLER: 'always_on' })).toBe(false);
    const api = world.start({ ROLES: 'api' });
    const url = `http://127.0.0.1:${await portOf(api)}/v1/api/rwa`;
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await fetch(url, { headers: { 'x-api-key': world.keys.acme, traceparent } });
    await stop(api);
    expect(lines(api).find(({ msg }) => msg === 'request')).not.toHaveProperty('traceId');
  });

  // A silent one gets more spans than the queue holds, which an answer of any kind empties.
  test.for([
    ['is silent', 400, () => {}],
    ['refuses', 40, (response) => response.writeHead(503).end('busy')],
  ] as const satisfies [string, number, Answer][])(
    'cost no request and no stop anything where the collector %s',
    async ([, rounds, answer], { world }) => {
      const collector = await startCollector(answer);
      const api = world.start({
        ROLES: 'api',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        RATE_LIMIT_PER_SECOND: '0',
      });
      const url = `http://127.0.0.1:${await portOf(api)}/v1/api/rwa`;
      const ask = async () => (await fetch(url, { headers: { 'x-api-key': world.keys.acme } })).status;
      const statuses: number[] = [];
      // None waits for another one.
      for (let round = 0; round < rounds; round += 1)
        statuses.push(...(await Promise.all(Array.from({ length: 5 }, ask))));
      expect(new Set(statuses)).toEqual(new Set([200]));
      await api.until(/the collector takes no traces/);
      expect(await stop(api)).toBeLessThan(6_000);
      expect(lines(api).filter(({ msg }) => String(msg).startsWith('the collector takes no'))).toHaveLength(
        1,
      );
      await collector.close();
    },
  );

  test('go on with the trace that a caller names only for an accepted key or a trusted proxy', async ({
    world,
  }) => {
    const collector = await startCollector();
    const traced = { ROLES: 'api', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const named = (digit: string) => `00-${digit.repeat(32)}-${'b'.repeat(16)}-01`;
    const ask = async (api: RunningProcess, traceparent: string, key?: string) => {
      const url = `http://127.0.0.1:${await portOf(api)}/v1/api/rwa`;
      return (await fetch(url, { headers: { traceparent, ...(key && { 'x-api-key': key }) } })).status;
    };
    const api = world.start(traced);
    expect(await ask(api, named('1'))).toBe(401);
    expect(await ask(api, named('2'), 'tk_test_nobody')).toBe(401);
    expect(await ask(api, named('3'), world.keys.acme)).toBe(200);
    expect(await ask(api, named('4'), world.keys.acme)).toBe(200);
    const publicUrl = `http://127.0.0.1:${await portOf(api)}/v1/api/metadata/31337/${'0x'.padEnd(42, '1')}/1`;
    expect((await fetch(publicUrl, { headers: { traceparent: named('5') } })).status).toBe(404);
    await stop(api);
    const proxied = world.start({ ...traced, TRUSTED_PROXIES: 'loopback' });
    expect(await ask(proxied, named('6'), 'tk_test_nobody')).toBe(401);
    await stop(proxied);

    const requests = collector.spans.filter(({ kind }) => kind === 2);
    expect(requests).toHaveLength(6);
    const continued = requests.filter(({ parentSpanId }) => parentSpanId === 'b'.repeat(16));
    expect(continued.map(({ traceId }) => traceId[0]).sort()).toEqual(['3', '4', '6']);
    for (const { traceId } of requests) expect(traceId).not.toMatch(/^[125]{32}$/);
    // The log names the trace that there is, of each request.
    const logged = [api, proxied].flatMap(lines).filter(({ msg }) => msg === 'request');
    expect(logged.map(({ traceId }) => traceId).sort()).toEqual(
      requests.map(({ traceId }) => traceId).sort(),
    );
    await collector.close();
  }, 60_000);

  test('are kept in the share that the settings name, and still named in the log', async ({ world }) => {
    const collector = await startCollector();
    const api = world.start({
      ROLES: 'api',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    });
    const url = `http://127.0.0.1:${await portOf(api)}/v1/api/rwa`;
    const ask = (traceparent?: string) =>
      fetch(url, { headers: { 'x-api-key': world.keys.acme, ...(traceparent && { traceparent }) } });
    await ask();
    // A caller who keeps its trace gets our part of it.
    await ask('00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01');
    await ask('no-traceparent');
    await stop(api);
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set(['a'.repeat(32)]));
    const named = lines(api).filter(({ msg }) => msg === 'request');
    expect(named.map(({ traceId }) => /^[0-9a-f]{32}$/.test(String(traceId)))).toEqual([true, true, true]);
    await collector.close();
  });
});
