import { redactUrl } from '../base/log.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import type { ReadAnswer } from './auth-answer.ts';
import { readBetterAuthAnswer } from './better-auth-answer.ts';
import { createCachedVerifier } from './cached-verifier.ts';
import { readUnkeyAnswer } from './unkey-answer.ts';
import type { KeyVerifier } from './verifier.ts';

/** The format of the service's responses. */
type AuthDialect = 'better-auth' | 'unkey';

const readers: Readonly<Record<AuthDialect, ReadAnswer>> = {
  'better-auth': readBetterAuthAnswer,
  unkey: readUnkeyAnswer,
};

const maxBytes = 64 * 1_024;
// So many connections the service has to bear at most, however many unknown keys come.
const maxConcurrent = 32;

// Keys of other services have other forms: this excludes only what no header can carry.
const wellFormed = /^[\x21-\x7e]{1,512}$/;

type RemoteVerifierOptions = {
  readonly url: string;
  /** The service's own credential, sent as a bearer token. */
  readonly credential: string;
  readonly dialect: AuthDialect;
  readonly outgoing: Outgoing;
  /** Time limit of one response in milliseconds; 9000 at most, larger values count as 9000. */
  readonly timeoutMs: number;
  /**
   * From 0 to 10. The service does not report revocations, so the expiry of cache entries alone keeps the promise that
   * a revoked key is rejected within 10 seconds.
   */
  readonly cacheSeconds: number;
  readonly cacheMax: number;
};

/**
 * Verifies keys with an authentication service. Only a clear and complete response lets a key in. The service counts
 * its own limits once for each response, not for each request that the cache serves.
 */
export function createRemoteVerifier(options: RemoteVerifierOptions): KeyVerifier {
  const client = createClient(options);
  const read = readers[options.dialect];
  const cached = createCachedVerifier({
    isWellFormed: (key) => wellFormed.test(key),
    lookUp: async (key) => read(await client.post(key), Date.now()),
    cacheSeconds: options.cacheSeconds,
    cacheMax: options.cacheMax,
    // As long again for its turn; the client itself ends the call.
    timeoutMs: 2 * options.timeoutMs,
    // The other half of the calls is for keys that were accepted before.
    lookUpsAtOnce: maxConcurrent / 2,
  });
  return {
    ...cached,
    async close() {
      await cached.close();
      client.close();
    },
  };
}

/**
 * Creates what sends a key to the authentication service and returns the JSON of its response. The errors that it throws may
 * be logged: they contain neither the key nor anything of the response, which might repeat it.
 * @throws Error for a URL with a user
 */
function createClient({ url: text, credential, timeoutMs, outgoing }: RemoteVerifierOptions) {
  const url = new URL(text);
  // It would be sent in addition to the credential, and be part of errors.
  if (url.username || url.password) throw new Error('AUTH_URL must not carry a user: use AUTH_CREDENTIAL');
  const service = outgoing.open({ kind: 'authentication', label: redactUrl(text), maxConcurrent });
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${credential}`,
    'content-type': 'application/json',
  };
  return {
    async post(key: string): Promise<unknown> {
      const request = { method: 'POST', url, headers, body: JSON.stringify({ key }), maxBytes } as const;
      const answer = await service.send(request, { timeoutMs });
      if (answer.status !== 200) throw new Error(`the authentication service answered ${answer.status}`);
      return parseJson(answer.text);
    },
    close: service.close,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new Error('the authentication service did not send JSON');
  }
}
