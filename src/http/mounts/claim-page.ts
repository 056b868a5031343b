import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Request, type Response, Router } from 'express';
import { problem } from '../../errors.ts';
import { type Deployment, fillIn } from './deployment.ts';

type PageFile = { readonly type: string; readonly content: Buffer; readonly etag: string };

const folder = new URL('../../claim-page/', import.meta.url);
const script = 'text/javascript; charset=utf-8';
const assets = {
  'page.css': 'text/css; charset=utf-8',
  'page.js': script,
  'api.js': script,
  'view.js': script,
  'wallets.js': script,
  'words.js': script,
} as const;

// Wallets hand their icons over as data; the picture of an asset lies where its company put it.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' https: data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join('; ');

const headers = {
  'Cache-Control': 'public, no-cache',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
} as const;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Creates the router of the claim page, to be mounted at `/claim`. The page is the same for every NFT, and tells nothing:
 * what is there to claim it asks for by itself, with the secret, which stands in the fragment and does not get here.
 */
export function createClaimPageRouter(deployment: Deployment): Router {
  const page = fileOf('page.html', 'text/html; charset=utf-8', (text) => fillIn(text, deployment));
  const files = new Map(Object.entries(assets).map(([name, type]) => [name, fileOf(name, type)]));

  const router = Router();
  router.all('/assets/:name', (request, response, next) => {
    const file = files.get(request.params.name);
    if (file === undefined) return next();
    send(request, response, file);
  });
  router.all('/:nftId', (request, response) => {
    // A link that was cut short is told of in words, by the page.
    response.status(uuid.test(request.params.nftId) ? 200 : 404);
    response.set('Content-Security-Policy', policy);
    send(request, response, page);
  });
  return router;
}

function fileOf(name: string, type: string, change = (text: string) => text): PageFile {
  const content = Buffer.from(change(readFileSync(new URL(name, folder), 'utf8')));
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  return { type, content, etag: `"${digest}"` };
}

function send(request: Request, response: Response, { type, content, etag }: PageFile): void {
  const { method } = request;
  if (method !== 'GET' && method !== 'HEAD') {
    const allow = 'GET, HEAD';
    throw problem('method_not_allowed', { method, allow }, { headers: { Allow: allow } });
  }
  response.set({ ...headers, ETag: etag });
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  response.set({ 'Content-Type': type, 'Content-Length': String(content.length) });
  response.end(method === 'HEAD' ? undefined : content);
}
