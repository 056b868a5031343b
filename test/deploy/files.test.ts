import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { composeFaults } from '../../scripts/rehearse/compose-faults.ts';
import { loadConfig } from '../../src/config/config.ts';

const read = (file: string) => readFile(path.join(import.meta.dirname, '../../deploy', file), 'utf8');
const compose = async () => parse(await read('compose.yaml'), { merge: true });

test('Compose gives each service a memory limit, its own keys, and no port without TLS to others', async () => {
  expect(composeFaults(await compose())).toEqual([]);
  const { api, indexer, worker } = (await compose()).services;
  const { mem_limit: _limit, ...unlimited } = worker;
  const careless = {
    services: {
      api: { ...api, ports: ['3000:3000'] },
      indexer: { ...indexer, secrets: [...indexer.secrets, 'secret_keys'] },
      worker: unlimited,
    },
  };
  expect(composeFaults(careless)).toEqual(
    expect.arrayContaining([
      'api: publishes 3000:3000 to everybody, without TLS',
      'indexer: has secret_keys, which indexer does not need',
      'worker: may use all memory',
    ]),
  );
});

test('an indexer starts without SECRET_KEYS and CURSOR_KEYS, a worker without CURSOR_KEYS, and an api without neither', () => {
  const key = (id: string) => `${id}:${Buffer.alloc(32, 1).toString('base64')}`;
  const env = { DATABASE_URL: 'postgres://u:p@localhost/d', NODE_KEYS: key('node1') };
  expect(loadConfig({ ...env, ROLES: 'indexer' }).SECRET_KEYS).toBeUndefined();
  const worker = { ...env, ROLES: 'worker', SECRET_KEYS: key('k1') };
  expect(loadConfig(worker).CURSOR_KEYS).toBeUndefined();
  expect(() => loadConfig({ ...worker, ROLES: 'api' })).toThrow('CURSOR_KEYS is missing');
  expect(() => loadConfig({ ...worker, NODE_KEYS: key('k1') })).toThrow('must not both have the key k1');
});

test('the chart lets workers reach every port of public hosts, which endpoints may name', async () => {
  const template = await read('chart/templates/network-policy.yaml');
  const [, endpoints = ''] = template.split('-endpoints\n');
  const [{ ports, to }] = parse(
    `egress:${endpoints.split('egress:')[1]?.split('{{- end }}')[0] ?? ' [{}]'}`,
  ).egress;
  expect(ports).toEqual([{ port: 1, endPort: 65_535, protocol: 'TCP' }]);
  const [{ ipBlock }] = to;
  expect(ipBlock.except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']));
  expect(template.slice(template.indexOf('-endpoints'))).toContain('"role" "worker"');
});

test('nginx waits for a reader of news longer than the reader may wait', async () => {
  const [, location = ''] = (await read('nginx/tallystick.conf')).split('location /news/ {');
  const [, seconds] = /proxy_read_timeout (\d+)s;/.exec(location.split('}')[0] ?? '') ?? [];
  // `Prefer: wait=60`, and 15 s for the answer.
  expect(Number(seconds)).toBeGreaterThanOrEqual(75);
});
