import pLimit from 'p-limit';
import { readText } from '../read-text.ts';

const maxResponseBytes = 64 * 1_024;
// So many connections the service has to bear at most, however many unknown keys come.
const maxRequests = 32;

type AuthClientOptions = {
  readonly url: string;
  /** The service's own credential, sent as a bearer token. */
  readonly credential: string;
};

/**
 * Creates a function that sends a key to the authentication service and returns the JSON of its response. The
 * errors that it throws may be logged: they contain neither the key nor anything of the response, which might
 * repeat it.
 */
export function createAuthClient({ url, credential }: AuthClientOptions) {
  const { username, password } = new URL(url);
  // fetch would reject every call, with the whole URL in the message.
  if (username || password) throw new Error('AUTH_URL must not carry a user: use AUTH_CREDENTIAL');
  const post = (key: string, signal: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      // A redirect would send the key and the credential to a host that nobody configured.
      redirect: 'error',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${credential}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ key }),
      signal,
    });

  const limit = pLimit(maxRequests);

  return (key: string, signal: AbortSignal): Promise<unknown> =>
    limit(async () => {
      // Its time may be over before its turn.
      signal.throwIfAborted();
      return ask(key, signal);
    });

  async function ask(key: string, signal: AbortSignal): Promise<unknown> {
    const response = await post(key, signal).catch((error: unknown) => {
      if (isLostConnection(error)) return post(key, signal);
      throw error;
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the authentication service answered ${response.status}`);
    }
    return parseJson(await readText(response.body, maxResponseBytes, oversized));
  }
}

const lostCodes = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

// A request fails on a kept-alive connection that the other end has just closed. That is no outage, so it is retried
// once; at worst the service counts the key's use twice.
function isLostConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && lostCodes.has(String(cause.code));
}

const oversized = () => new Error(`the authentication service sent over ${maxResponseBytes} bytes`);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new Error('the authentication service did not send JSON');
  }
}
