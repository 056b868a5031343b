import { redactUrl } from '../base/log.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';

const maxBytes = 64 * 1_024;
// So many connections the service has to bear at most, however many unknown keys come.
export const maxConcurrent = 32;

type AuthClientOptions = {
  readonly url: string;
  /** The service's own credential, sent as a bearer token. */
  readonly credential: string;
  /** Time limit of one response in milliseconds. */
  readonly timeoutMs: number;
  readonly outgoing: Outgoing;
};

type AuthClient = {
  /**
   * Sends a key to the authentication service and returns the JSON of its response. The errors that it throws may be
   * logged: they contain neither the key nor anything of the response, which might repeat it.
   * @throws OutgoingFault when there is no response; Error when it is none that could be read
   */
  post(key: string): Promise<unknown>;
  close(): void;
};

/** @throws Error for a URL with a user */
export function createAuthClient({
  url: text,
  credential,
  timeoutMs,
  outgoing,
}: AuthClientOptions): AuthClient {
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
    async post(key) {
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
