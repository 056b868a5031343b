import { setTimeout as pause } from 'node:timers/promises';
import { credential, startHttpServer } from '../../test/keys/auth-server.ts';
import type { Settings } from './fleet.ts';
import type { Company } from './world.ts';

/** How the authentication service answers; `well` as it should. */
export type Conduct = 'well' | 'slow' | 'absent' | 'lying';

export type Authenticator = {
  /** Settings of a service that asks it for every key. */
  readonly settings: Settings;
  behave(conduct: Conduct): void;
  /** How often it was asked while it did not behave well. */
  misled(): number;
  close(): Promise<void>;
};

const slowMs = 20_000;

/** Starts an authentication service that knows the keys of these companies. */
export async function startAuthenticator(companies: readonly Company[]): Promise<Authenticator> {
  let conduct: Conduct = 'well';
  let misled = 0;
  const server = await startHttpServer(async (request, response, body) => {
    if (request.headers.authorization !== `Bearer ${credential}`) return void response.writeHead(401).end();
    if (conduct !== 'well') misled += 1;
    if (conduct === 'absent') return void request.socket.destroy();
    const { key }: { key: string } = JSON.parse(body);
    const company = companies.find((each) => each.key === key);
    const known = company && { id: `key of ${company.name}`, referenceId: company.id, enabled: true };
    const judged = known
      ? { valid: true, error: null, key: known }
      : { valid: false, error: { code: 'KEY_NOT_FOUND' }, key: null };
    const isLie = conduct === 'lying';
    if (conduct === 'slow') await pause(slowMs);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isLie ? { valid: 'perhaps', key: { id: 7 } } : judged));
  });
  return {
    settings: {
      KEY_VERIFIER: 'remote',
      AUTH_URL: server.url,
      AUTH_CREDENTIAL: credential,
    },
    behave(changed) {
      conduct = changed;
    },
    misled: () => misled,
    close: () => server.close(),
  };
}
