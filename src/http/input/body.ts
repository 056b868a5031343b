import express, { type Request, type Response } from 'express';
import { type ProblemError, problem } from '../../base/errors.ts';

// 100 kB, as express counts it: after inflation.
const maxBytes = 100 * 1024;
// Incompressible data grows a little when it is compressed.
const maxSentBytes = maxBytes + 4_096;

export type BodyReader = (request: Request, response: Response) => Promise<unknown>;

/**
 * Creates the reader of JSON bodies. An absent, empty or `null` body reads as undefined. Nothing is read before the
 * call. A body that is too large (413) is rejected before one of another type (415) or with invalid JSON (400).
 */
export function createBodyReader(): BodyReader {
  const readBytes = express.raw({ type: () => true, limit: maxBytes });
  return async (request, response) => {
    if (!hasBody(request)) return undefined;
    const limit = sentBytesLimit(request);
    if (Number(request.headers['content-length'] ?? 0) > limit) throw problem('body_too_large');
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      // The listener leaves 100 Continue to us, so a caller that waits for it never sends a rejected body.
      if (expectsContinue(request)) response.writeContinue();
      watchSize(request, limit, () => reject(problem('body_too_large')));
      readBytes(request, response, (error?: unknown) => {
        if (error === undefined) resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
        else reject(bodyProblem(error));
      });
    });
    if (bytes.length === 0) return undefined;
    if (!isJson(request.headers['content-type'])) throw problem('media_type_unsupported');
    return parse(bytes);
  };
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function expectsContinue({ headers, httpVersion }: Request): boolean {
  return httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue';
}

function sentBytesLimit({ headers }: Request): number {
  const isPlain = (headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
  return isPlain ? maxBytes : maxSentBytes;
}

/** Rejects a body as soon as it exceeds the limit; express.raw would read it to its end first. */
function watchSize(request: Request, limit: number, refuse: () => void): void {
  let seen = 0;
  request.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > limit) refuse();
  });
}

function bodyProblem(error: unknown): ProblemError {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return problem('body_too_large', {}, { cause: error });
  if (type === 'encoding.unsupported') return problem('media_type_unsupported', {}, { cause: error });
  // What remains is a broken stream: a wrong length, corrupt compression, a closed connection.
  return problem('json_malformed', {}, { cause: error });
}

/** JSON is UTF-8 (RFC 8259), so no other charset is read. */
function isJson(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charsets = parameters
    .map((parameter) => parameter.trim())
    .filter((parameter) => parameter.startsWith('charset='))
    .map((parameter) => parameter.slice('charset='.length).replaceAll('"', ''));
  return type.trim() === 'application/json' && charsets.every((name) => name === 'utf-8' || name === 'utf8');
}

function parse(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.trim() === '' ? undefined : (JSON.parse(text) ?? undefined);
  } catch (error) {
    throw problem('json_malformed', {}, { cause: error });
  }
}
