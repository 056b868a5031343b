import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ClientSettings } from '../../config/client-settings.ts';
import type { Callee } from '../../outgoing/callee.ts';
import { type OutgoingAnswer, OutgoingFault } from '../../outgoing/outgoing-fault.ts';
import { ArgumentError, type ToolArguments, toRequest } from './tool-request.ts';
import type { OperationTool } from './tools.ts';

export type CallOptions = ClientSettings & {
  /** The service, over HTTP. */
  readonly service: Pick<Callee, 'send'>;
  readonly timeoutMs: number;
  /** Whether tools that change something may be called. */
  readonly write: boolean;
  /** Whether answers keep secrets and claim URLs. */
  readonly secrets: boolean;
};

// Already more than a model reads; a list has `limit` and `cursor`.
const maxBytes = 2_000_000;

/** Calls the operation of a tool. Whatever goes wrong is an answer with `isError` and its text, so the model can fix its call. */
export async function callTool(
  tool: OperationTool,
  given: ToolArguments,
  options: CallOptions,
): Promise<CallToolResult> {
  if (tool.isWrite && !options.write) {
    return failed(
      `${tool.name} is not allowed: this server only reads. Start it with --write to let it change something.`,
    );
  }
  if (tool.showsSecretOnce && !options.secrets) {
    return failed(
      `${tool.name} is not allowed: its answer has a secret that nothing shows again, and this server passes no secrets on. Start it with --secrets to allow it.`,
    );
  }
  if (tool.needsKey && options.apiKey === undefined) {
    return failed(`${tool.name} needs an API key: start this server with TALLYSTICK_KEY in its environment.`);
  }
  try {
    const answer = await send(tool, given, options);
    return toResult(options.secrets ? answer : { ...answer, text: withoutSecrets(answer.text) });
  } catch (error) {
    if (error instanceof ArgumentError) return failed(error.message);
    if (error instanceof OutgoingFault) return failed(faultText(error, options));
    throw error;
  }
}

function send(tool: OperationTool, given: ToolArguments, options: CallOptions): Promise<OutgoingAnswer> {
  const { baseUrl, apiKey, service, timeoutMs } = options;
  const { headers, ...request } = toRequest(tool, given, baseUrl);
  return service.send(
    {
      ...request,
      headers: {
        ...headers,
        accept: 'application/json, application/problem+json',
        // On a connection of its own, a request that was cut off is not sent a second time.
        connection: 'close',
        ...(tool.needsKey && apiKey !== undefined && { 'x-api-key': apiKey }),
      },
      maxBytes,
      reads: () => true,
    },
    { timeoutMs },
  );
}

function faultText({ reason, message }: OutgoingFault, { baseUrl, timeoutMs }: CallOptions): string {
  if (reason === 'oversized')
    return `The answer is over ${maxBytes} bytes. Ask for less: limit, and cursor for the rest.`;
  if (reason === 'timeout') return `The service at ${baseUrl} gave no answer within ${timeoutMs} ms.`;
  return `The service at ${baseUrl} cannot be reached: ${message}.`;
}

function toResult({ status, headers, text }: OutgoingAnswer): CallToolResult {
  if (status >= 300) return failed(refusalText(status, headers['retry-after'], text));
  const told = JSON.stringify({ status, headers: telling(headers) });
  return { content: [...(text === '' ? [] : [content(text)]), content(told)] };
}

/** What of the answer's headers a caller goes on with: where a list continues, which version was read, how current it is. */
function telling(headers: OutgoingAnswer['headers']): Record<string, unknown> {
  const wanted =
    /^(age|etag|location|idempotency-replayed|x-next-cursor|x-total-count|x-index-.*|x-request-id)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => wanted.test(name)));
}

/** Writes the words of a problem first, then the whole problem. */
function refusalText(status: number, retryAfter: string | undefined, text: string): string {
  const detail = detailOf(text);
  const wait = retryAfter === undefined ? '' : ` Retry after ${retryAfter} s.`;
  if (detail === undefined) return `The service answered ${status}, which is none of its own answers.${wait}`;
  return `${detail} (${status}).${wait}\n${text}`;
}

function detailOf(text: string): string | undefined {
  try {
    const { detail }: { detail?: unknown } = JSON.parse(text);
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}

const content = (text: string) => ({ type: 'text' as const, text });
const failed = (text: string): CallToolResult => ({ isError: true, content: [content(text)] });

/**
 * Returns the JSON text of an answer with null for each claim secret, and for the claim URL next to it.
 * A text that is no JSON cannot be searched, and becomes empty.
 */
function withoutSecrets(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, hide));
  } catch {
    return '';
  }
}

// An NFT has its secret in the URL too. What a company calls `secret` in its own data is hidden with it.
const hide = (_name: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || !('secret' in value)) return value;
  return { ...value, secret: null, ...('url' in value && { url: null }) };
};
