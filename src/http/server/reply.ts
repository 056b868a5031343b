import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AnyReply } from '../../contract/operation.ts';
import { TextStream } from '../../contract/text-stream.ts';
import { problem } from '../../errors.ts';
import { safeJson } from '../../safe-json.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { piecesOf, streamIn } from './body-pieces.ts';

/**
 * Sends the reply of a handler. Caches must not keep company data, so `no-store` is the default; a header of the
 * handler overrides it.
 * @returns when the reply is handed over; a stream goes at the pace of the caller
 * @throws ProblemError `overloaded`, before anything is sent, when callers have too much to read already. Only what
 *   was merely read is refused: the answer to a change has to tell that it happened
 */
export async function sendReply(
  response: ServerResponse,
  reply: AnyReply,
  memory: AnswerMemory,
): Promise<void> {
  const { body } = reply;
  if (body instanceof TextStream) {
    writeHead(response, reply, undefined);
    return writePieces(response, body.pieces);
  }
  const stream = streamIn(body);
  // Serialised first: if that fails, nothing has been sent yet.
  const bytes = body === undefined || stream ? undefined : Buffer.from(safeJson(body) ?? '');
  const isHeld = memory.hold(response, bytes?.length ?? stream?.heldBytes ?? 0);
  if (!isHeld && response.req.method === 'GET') throw problem('overloaded');
  writeHead(response, reply, bytes);
  // Node sends no body in answer to HEAD, so nothing is read for one.
  const isHead = response.req.method === 'HEAD';
  if (stream === undefined || isHead || typeof body !== 'object' || body === null) response.end(bytes);
  else await writePieces(response, piecesOf(body));
}

function writeHead(response: ServerResponse, { status, headers, body }: AnyReply, bytes: Buffer | undefined) {
  response.statusCode = status;
  response.setHeader('Cache-Control', 'no-store');
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  if (body !== undefined) {
    const type = body instanceof TextStream ? body.mediaType : 'application/json; charset=utf-8';
    response.setHeader('Content-Type', type);
  }
  if (bytes !== undefined) response.setHeader('Content-Length', bytes.length);
}

/** Makes a piece when the one before it has left. Ends the source when the caller has gone. */
async function writePieces(response: ServerResponse, pieces: AsyncIterable<string>): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for await (const piece of pieces) {
    if (response.destroyed) return;
    if (response.write(piece)) continue;
    const isDrained = await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
    if (isDrained === undefined) return;
  }
  response.end();
}
