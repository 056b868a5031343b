import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AnyReply } from '../../contract/operation.ts';
import { TextStream } from '../../contract/text-stream.ts';
import { problem } from '../../errors.ts';
import { safeJson } from '../../safe-json.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { pieceLength, piecesOf, streamIn } from './body-pieces.ts';

export type ReplyParts = {
  readonly memory: AnswerMemory;
  /** Called when the body is made, or its first piece can be asked for. */
  readonly onMade: (bytes: number) => void;
  /** Waits until a piece of a stream may be made. Gives what is called with its size. */
  readonly nextShare: (signal: AbortSignal) => EndPiece | Promise<EndPiece>;
};

type EndPiece = (bytes: number) => void;

/**
 * Sends the reply of a handler. Caches must not keep company data, so `no-store` is the default; a header of the
 * handler overrides it.
 * @returns undefined when the reply is handed over; a stream goes at the pace of the caller
 * @throws ProblemError `overloaded`, before anything is sent, when callers have too much to read already. Only what
 *   was merely read is refused: the answer to a change has to tell that it happened
 */
export function sendReply(
  response: ServerResponse,
  reply: AnyReply,
  parts: ReplyParts,
): Promise<void> | undefined {
  const { body } = reply;
  if (body instanceof TextStream) {
    writeHead(response, reply, undefined);
    return writePieces(response, body.pieces, parts);
  }
  const stream = streamIn(body);
  // Serialised first: if that fails, nothing has been sent yet.
  const text = body === undefined || stream ? undefined : (safeJson(body) ?? '');
  const length = text === undefined ? undefined : Buffer.byteLength(text);
  const isHeld = parts.memory.hold(response, length ?? stream?.heldBytes ?? 0);
  if (!isHeld && response.req.method === 'GET') throw problem('overloaded');
  writeHead(response, reply, length);
  // Node sends no body in answer to HEAD, so nothing is read for one.
  const isHead = response.req.method === 'HEAD';
  if (stream === undefined || isHead || typeof body !== 'object' || body === null) {
    // As a text it leaves in one piece with its headers.
    response.end(text);
    parts.onMade(length ?? 0);
    return undefined;
  }
  return writePieces(response, piecesOf(body), parts);
}

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

/** Makes a piece when the one before it has left. Ends the source when the caller has gone. */
async function writePieces(
  response: ServerResponse,
  source: AsyncIterable<string>,
  { onMade, nextShare }: ReplyParts,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const pieces = source[Symbol.asyncIterator]();
  onMade(pieceLength);
  try {
    while (!response.destroyed) {
      const endPiece = await nextShare(gone.signal);
      let length = 0;
      try {
        const { done = false, value } = await pieces.next();
        if (done) break;
        length = value.length;
        if (response.write(value)) continue;
      } finally {
        endPiece(length);
      }
      await once(response, 'drain', { signal: gone.signal });
    }
    if (!response.destroyed) response.end();
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    await pieces.return?.();
  }
}
