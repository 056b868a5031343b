import { Agent, type ClientRequest, type IncomingMessage, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Answer, type AnswerClass, classOf } from './answers.ts';

export type Wanted = {
  readonly kind: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The second half of the body comes so many milliseconds after the first. */
  readonly halfAfterMs?: number;
  /** Called with the body of an answer that is 2xx, as it came. */
  readonly onAccepted?: (body: string) => void;
};

export type Caller = {
  /** Sends one request. Never rejects: what goes wrong is an answer too. */
  ask(wanted: Wanted): Promise<Answer>;
  close(): void;
};

export type CallerOptions = {
  readonly port: number;
  readonly company: string;
  readonly key: string | undefined;
  /** Its address, one of 127.0.0.0/8: callers from different addresses are distinguished by it. */
  readonly address: string;
};

/** Every answer is there by then. */
export const deadlineMs = 18_000;

/** A caller that keeps its connections, as clients do, and waits for an answer up to the deadline. */
export function createCaller({ port, company, key, address }: CallerOptions): Caller {
  const agent = new Agent({ keepAlive: true, localAddress: address });
  return {
    async ask(wanted) {
      const at = performance.now();
      const signal = AbortSignal.timeout(deadlineMs);
      const outcome = await exchange({ agent, port, key, signal }, wanted).catch((error: Error) => ({
        class: signal.aborted ? ('late' as const) : ('cut' as const),
        detail: signal.aborted ? `no answer in ${deadlineMs} ms` : reasonOf(error),
      }));
      return { at, ms: performance.now() - at, company, kind: wanted.kind, ...outcome };
    },
    close: () => agent.destroy(),
  };
}

type Way = {
  readonly agent: Agent;
  readonly port: number;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
};

async function exchange({ agent, port, key, signal }: Way, wanted: Wanted) {
  const json = wanted.body === undefined ? undefined : JSON.stringify(wanted.body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send({
      agent,
      port,
      signal,
      host: '127.0.0.1',
      method: wanted.method,
      path: wanted.path,
      headers: {
        ...(key !== undefined && { 'x-api-key': key }),
        ...(json !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(json),
        }),
        ...wanted.headers,
      },
    });
    request.once('response', resolve).on('error', reject);
    if (json === undefined || wanted.halfAfterMs === undefined) request.end(json);
    else sendInHalves(request, json, wanted.halfAfterMs);
  });
  const body = await text(response);
  const status = response.statusCode ?? 0;
  const found: AnswerClass = classOf({ status, retryAfter: response.headers['retry-after'], body });
  if (found === 'ok') wanted.onAccepted?.(body);
  const code = /"code":"(\w+)"/.exec(body)?.[1] ?? body.slice(0, 60);
  return { class: found, detail: found === 'ok' ? String(status) : `${status} ${code}` };
}

function sendInHalves(request: ClientRequest, json: string, ms: number): void {
  const bytes = Buffer.from(json);
  const half = bytes.length >> 1;
  request.write(bytes.subarray(0, half));
  setTimeout(() => request.end(bytes.subarray(half)), ms);
}

const reasonOf = (error: Error) => ('code' in error ? String(error.code) : error.message);
