import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { credential, startHttpServer } from '../../test/keys/auth-server.ts';
import { type Gate, startGate } from '../../test/keys/tcp-gate.ts';
import type { Company } from './world.ts';

/** How the authentication service answers; `well` as it should. */
export type Conduct = 'well' | 'slow' | 'huge' | 'lying';

export type Authenticator = {
  /** Settings of a service that asks it for every key. */
  readonly settings: Readonly<Record<string, string>>;
  /** On the way to it. */
  readonly gate: Gate;
  behave(conduct: Conduct): void;
  /** How often it was asked while it did not behave well. */
  misled(): number;
  close(): Promise<void>;
};

const slowMs = 20_000;

/** An authentication service that knows the keys of these companies, behind a gate. */
export async function startAuthenticator(companies: readonly Company[]): Promise<Authenticator> {
  let conduct: Conduct = 'well';
  let misled = 0;
  const server = await startHttpServer(async (request, response, body) => {
    if (request.headers.authorization !== `Bearer ${credential}`) return void response.writeHead(401).end();
    const { key }: { key: string } = JSON.parse(body);
    const company = companies.find((each) => each.key === key);
    const judged = company
      ? {
          valid: true,
          error: null,
          key: { id: `key of ${company.name}`, referenceId: company.id, enabled: true },
        }
      : { valid: false, error: { code: 'KEY_NOT_FOUND' }, key: null };
    if (conduct !== 'well') misled += 1;
    await conducts[conduct](response, judged);
  });
  const gate = await startGate(server.url);
  return {
    settings: {
      KEY_VERIFIER: 'remote',
      AUTH_URL: gate.through(server.url),
      AUTH_CREDENTIAL: credential,
      KEY_CACHE_SECONDS: '1',
    },
    gate,
    behave(changed) {
      conduct = changed;
    },
    misled: () => misled,
    async close() {
      await gate.close();
      await server.close();
    },
  };
}

const json = { 'content-type': 'application/json' };

const conducts: Readonly<Record<Conduct, (response: ServerResponse, judged: object) => unknown>> = {
  well: (response, judged) => response.writeHead(200, json).end(JSON.stringify(judged)),
  async slow(response, judged) {
    await pause(slowMs);
    response.writeHead(200, json).end(JSON.stringify(judged));
  },
  huge: (response) =>
    response.writeHead(200, json).end(`{"valid":true,"padding":"${'x'.repeat(30_000_000)}"}`),
  lying: (response) => response.writeHead(200, json).end('{"valid":"perhaps","key":{"id":7}}'),
};
