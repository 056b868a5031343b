import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { problem } from '../../base/errors.ts';
import { safeJson } from '../../base/json/safe-json.ts';
import type { AnyReply } from '../../contract/operation.ts';
import { TextStream } from '../../contract/text-stream.ts';
import type { AnswerMemory, Reserve } from './answer-memory.ts';
import { pieceLength, piecesOf, streamIn } from './body-pieces.ts';

export type ReplyParts = {
  readonly memory: AnswerMemory;
  /** Whose share of the memory the answer takes. */
  readonly tenant: string;
  /** Waits until a stream may begin. @throws ProblemError `overloaded` */
  readonly beforeStream: () => Promise<void>;
  /** Called before each further piece of a stream. @throws ProblemError when the caller may read no more */
  readonly beforePiece: () => Promise<void> | undefined;
};

/**
 * Sends the reply of a handler. Caches must not keep company data, so `no-store` is the default; a header of the
 * handler overrides it.
 * @returns undefined when the reply is handed over; a stream goes at the pace of the caller
 * @throws ProblemError `overloaded`, before anything is sent, when callers have too much to read already. Only what
 *   was merely read is rejected: the answer to a change has to say that it happened
 */
export function sendReply(
  response: ServerResponse,
  reply: AnyReply,
  parts: ReplyParts,
): Promise<void> | undefined {
  const { body } = reply;
  const stream = body instanceof TextStream ? body : streamIn(body);
  // Serialised first: if that fails, nothing has been sent yet.
  const text = body === undefined || stream ? undefined : (safeJson(body) ?? '');
  const length = text === undefined ? undefined : Buffer.byteLength(text);
  const bytes = length ?? bytesOf(stream);
  const reserve = parts.memory.open(response, parts.tenant);
  if (!reserve(bytes)) throw problem('overloaded');
  // Node sends no body in answer to HEAD, so nothing is read for one.
  const isHead = response.req.method === 'HEAD';
  if (stream === undefined || isHead || typeof body !== 'object' || body === null) {
    writeHead(response, reply, length);
    // As a text it leaves in one piece with its headers.
    response.end(text);
    return undefined;
  }
  const source = { stream, pieces: piecesOf(body), beforePiece: parts.beforePiece };
  return parts.beforeStream().then(() => {
    const mark = markOf(response, body);
    if (mark !== '') response.setHeader('Preference-Applied', 'bom');
    writeHead(response, reply, length);
    if (mark !== '') response.write(mark);
    return writePieces(response, source, reserve);
  });
}

/** The byte order mark by which a spreadsheet knows UTF-8, where the caller prefers a CSV file with it; else nothing. */
function markOf({ req }: ServerResponse, body: object): '\uFEFF' | '' {
  const isFile = body instanceof TextStream && body.mediaType.startsWith('text/csv');
  const { prefer } = req.headers;
  const preferences = [prefer ?? []].flat().join(',').split(',');
  return isFile && preferences.some((each) => /^\s*bom\s*(;|$)/i.test(each)) ? '\uFEFF' : '';
}

type Streamed = { readonly heldBytes: number };

/** With the piece that is being sent. */
const bytesOf = (stream: Streamed | undefined): number =>
  stream === undefined ? 0 : stream.heldBytes + pieceLength;

function writeHead(
  response: ServerResponse,
  { status, headers, body }: AnyReply,
  length: number | undefined,
): void {
  const isCached = headers?.['cache-control'] !== undefined;
  const head: OutgoingHttpHeaders = isCached ? { ...headers } : { 'Cache-Control': 'no-store', ...headers };
  if (body !== undefined) {
    head['Content-Type'] = body instanceof TextStream ? body.mediaType : 'application/json; charset=utf-8';
  }
  if (length !== undefined) head['Content-Length'] = length;
  response.writeHead(status, head);
}

// Others are read or cut meanwhile.
const patienceMs = 5_000;
const lookMs = 100;

/** What a stream has buffered may wait until other answers are read; beyond that, it is cut. */
async function reserveInTime(reserve: Reserve, bytes: number, signal: AbortSignal): Promise<void> {
  for (let waitedMs = 0; !reserve(bytes); waitedMs += lookMs) {
    if (waitedMs >= patienceMs) throw problem('overloaded');
    await delay(lookMs, undefined, { signal });
  }
}

type Source = Pick<ReplyParts, 'beforePiece'> & {
  readonly stream: Streamed;
  readonly pieces: AsyncIterable<string>;
};

/**
 * Makes a piece when the piece before it has left. Ends the source when the caller has gone.
 * @throws ProblemError `overloaded` when the stream buffers more than there is room for in time; what `beforePiece`
 *   throws
 */
async function writePieces(response: ServerResponse, source: Source, reserve: Reserve): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const pieces = source.pieces[Symbol.asyncIterator]();
  try {
    while (!response.destroyed) {
      const { done = false, value: piece } = await pieces.next();
      if (done) break;
      await reserveInTime(reserve, bytesOf(source.stream), gone.signal);
      if (!response.write(piece)) await once(response, 'drain', { signal: gone.signal });
      await source.beforePiece();
    }
    if (!response.destroyed) response.end();
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    await pieces.return?.();
  }
}
