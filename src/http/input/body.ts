import express, { type Request, type Response } from 'express';
import { type ProblemError, problem } from '../../errors.ts';

// 100 kB, as express counts it: after inflation.
const maxBytes = 100 * 1024;
// Incompressible data grows a little when it is compressed.
const maxSentBytes = maxBytes + 4_096;

export type BodyReader = (request: Request, response: Response) => Promise<unknown>;

/**
 * Reads a JSON body: undefined when there is none, it is empty or `null`. Nothing is read before it is
 * called. Refuses what is too large (413) before what is not JSON by its type (415) or its text (400).
 */
export function createBodyReader(): BodyReader {
  const readBytes = express.raw({ type: () => true, limit: maxBytes });
  return async (request, response) => {
    if (!hasBody(request)) return undefined;
    const most = mostSentBytes(request);
    if (Number(request.headers['content-length'] ?? 0) > most) throw problem('body_too_large');
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      // The server leaves this to us: who waits to be asked for a body sends none that is refused.
      if (isWaiting(request)) response.writeContinue();
      watchSize(request, most, () => reject(problem('body_too_large')));
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

function isWaiting({ headers, httpVersion }: Request): boolean {
  return httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue';
}

function mostSentBytes({ headers }: Request): number {
  const isPlain = (headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
  return isPlain ? maxBytes : maxSentBytes;
}

/** Refuses at once: the reader itself would read a body that is too large to its end before it says so. */
function watchSize(request: Request, most: number, refuse: () => void): void {
  let seen = 0;
  request.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > most) refuse();
  });
}

function bodyProblem(error: unknown): ProblemError {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return problem('body_too_large', {}, { cause: error });
  if (type === 'encoding.unsupported') return problem('media_type_unsupported', {}, { cause: error });
  // The rest is a broken stream: a wrong length, damaged compression, a caller who went away.
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
