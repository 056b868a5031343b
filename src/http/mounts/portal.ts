import { resolve } from 'node:path';
import { type Request, type Response, Router } from 'express';
import { problem } from '../../base/errors.ts';
import { costOfBytes, type StrangerPace } from '../server/stranger-pace.ts';
import type { Deployment } from './deployment.ts';
import { createPortalReader, type Portal, type PortalFile } from './portal-files.ts';

const encodings = ['br', 'gzip'] as const;

const noticeStyle =
  ':root{color-scheme:light dark}body{max-width:36rem;margin:20vh auto;padding:0 1.5rem;font:1rem/1.6 system-ui,sans-serif}';

/** Sends a small page that needs no file of the portal. `text` is trusted HTML. */
function sendNotice(response: Response, status: number, title: string, text: string): void {
  response.status(status).set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
    'Content-Type': 'text/html; charset=utf-8',
  });
  response.send(
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Tallystick</title><style>${noticeStyle}</style></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`,
  );
}

function headersOf(file: PortalFile, policy: string | undefined): Record<string, string> {
  return {
    'Cache-Control': file.immutable ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    'Content-Type': file.type,
    ...(policy === undefined
      ? {}
      : { 'Content-Security-Policy': policy, 'Cross-Origin-Opener-Policy': 'same-origin' }),
    ...(file.open
      ? { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }
      : { 'Cross-Origin-Resource-Policy': 'same-origin' }),
  };
}

type Sending = {
  readonly portal: Portal;
  readonly name: string;
  readonly file: PortalFile;
  readonly pace: StrangerPace;
};

/** Sends a file from memory: a caller that leaves or does not read keeps no file open. */
async function sendFile(request: Request, response: Response, { portal, name, file, pace }: Sending) {
  // Each encoding is asked for on its own: given a list, Express prefers the order of the client, mostly gzip first.
  const encoding = encodings.find((each) => request.acceptsEncodings(each) === each);
  const [content, policy] = await Promise.all([portal.read(name, encoding), portal.policy(name)]);
  const tag = `"${file.digest}${encoding ? `-${encoding}` : ''}"`;
  const isFresh = hasCurrent(request, response, tag);
  if (!isFresh && request.method !== 'HEAD') await pace.pass(request, response, costOfBytes(content.length));
  response.vary('Accept-Encoding');
  // Not response.set, which would add a charset to JSON.
  response.setHeaders(new Map(Object.entries(headersOf(file, policy))));
  response.set('ETag', tag);
  if (isFresh) {
    response.removeHeader('Content-Type');
    response.status(304).end();
    return;
  }
  if (encoding) response.set('Content-Encoding', encoding);
  response.set('Content-Length', String(content.length));
  response.end(request.method === 'HEAD' ? undefined : content);
}

/**
 * Returns whether the caller has the file. Express compares with the headers of the answer, which may become another
 * answer yet.
 */
function hasCurrent(request: Request, response: Response, tag: string): boolean {
  response.set('ETag', tag);
  const isFresh = request.fresh;
  response.removeHeader('ETag');
  return isFresh;
}

/** Finds the file for an address: the exact name, or the page without its `.html`. */
function findName(files: Portal['files'], wanted: string): string | undefined {
  return [wanted || 'index.html', `${wanted}.html`].find((name) => files.has(name));
}

/** Finds the canonical address to redirect to. The start page needs its trailing slash for its relative links. */
function findRedirect(files: Portal['files'], address: string, baseUrl: string): string | undefined {
  if (address === baseUrl) return `${baseUrl}/`;
  const shorter = address.slice(baseUrl.length + 1).replace(/\/$/, '');
  return address.endsWith('/') && shorter && findName(files, shorter) ? `${baseUrl}/${shorter}` : undefined;
}

const missing = 'missing.html';

/** The portal's own page for what it does not have, which leads on. */
async function sendMissing(request: Request, response: Response, portal: Portal) {
  const file = portal.files.get(missing);
  if (file === undefined) {
    sendNotice(response, 404, 'Page not found', `Go to <a href="${request.baseUrl}/">the start page</a>.`);
    return;
  }
  const [content, policy] = await Promise.all([portal.read(missing), portal.policy(missing)]);
  response.status(404).setHeaders(new Map(Object.entries(headersOf(file, policy))));
  response.set({ 'Cache-Control': 'no-store', 'Content-Length': String(content.length) });
  response.end(request.method === 'HEAD' ? undefined : content);
}

type PortalOptions = {
  /** The folder of the built portal. */
  readonly directory: string;
  readonly deployment: Deployment;
  /** Counts the bytes that are sent. */
  readonly pace: StrangerPace;
};

/**
 * Creates the router of the built portal, to be mounted at `/docs`. Pages are served with and without `.html`; the
 * bundled documents may be read from any origin. Unknown addresses get a 404 page, not a problem body, because people
 * read it. Methods other than GET and HEAD are passed on as the problem `method_not_allowed`, and a caller that got too
 * much of the portal lately gets `rate_limited`.
 */
export function createPortalRouter({ directory, deployment, pace }: PortalOptions): Router {
  const readPortal = createPortalReader(resolve(directory), deployment);

  const answer = async (request: Request, response: Response) => {
    const { baseUrl } = request;
    const portal = await readPortal();
    if (portal === undefined) {
      const remedy = 'Build it with <code>npm run docs</code>, then load this page again.';
      sendNotice(response, 503, 'No documentation yet', remedy);
      return;
    }
    const { files } = portal;
    const [address = ''] = request.originalUrl.split('?');
    const redirect = findRedirect(files, address, baseUrl);
    if (redirect !== undefined) {
      response.redirect(301, redirect);
      return;
    }
    const name = findName(files, address.slice(baseUrl.length + 1));
    const file = name === undefined ? undefined : files.get(name);
    if (name === undefined || file === undefined) {
      await sendMissing(request, response, portal);
      return;
    }
    await sendFile(request, response, { portal, name, file, pace });
  };

  const router = Router();
  router.use(async (request, response, next) => {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      const allow = 'GET, HEAD';
      next(problem('method_not_allowed', { method, allow }, { headers: { Allow: allow } }));
      return;
    }
    response.set({ 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' });
    await answer(request, response);
  });
  return router;
}

/** Leads a person who opens the address of the service to its portal. */
export function createStartRouter(): Router {
  return Router().get('/', (_request, response) => response.redirect(302, '/docs/'));
}
