import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type Request, type Response, Router } from 'express';
import { problem } from '../../base/errors.ts';
import { placeholders } from './deployment.ts';

type PageFile = { readonly type: string; readonly content: Buffer; readonly etag: string };

const folder = new URL('../../claim-page/', import.meta.url);
const script = 'text/javascript; charset=utf-8';
const htmlType = 'text/html; charset=utf-8';
const names = readdirSync(folder).filter((name) => name !== 'page.html');
const typeOf = (name: string) => (name.endsWith('.css') ? 'text/css; charset=utf-8' : script);

// Wallets hand their icons over as data. The picture of an asset is where its company put it, which the document lets be http.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' http: https: data:",
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

/** What the claim page says of the deployment that serves it. */
export type ClaimPageOptions = {
  readonly operator: string;
  /** Where customers find help; without it the page names nothing. */
  readonly supportUrl?: string | undefined;
  /** What a customer without a wallet reads; without it the page links nothing. */
  readonly walletHelpUrl?: string | undefined;
};

/**
 * Creates the router of the claim page, to be mounted at `/claim`. The page is the same for every NFT and names none:
 * it reads what there is to claim by itself, with the secret, which is in the fragment and does not get here.
 */
export function createClaimPageRouter(options: ClaimPageOptions): Router {
  const html = fillPage(readFileSync(new URL('page.html', folder), 'utf8'), options);
  const page = fileOf(html, htmlType);
  // Relative to the folder above: the address without a slash at its end.
  const barePage = fileOf(html.replaceAll('"assets/', '"claim/assets/'), htmlType);
  const files = new Map(
    names.map((name) => [name, fileOf(readFileSync(new URL(name, folder)), typeOf(name))]),
  );

  const router = Router({ strict: true, caseSensitive: true });
  const sendPage = (request: Request, response: Response, file: PageFile) => {
    response.set('Content-Security-Policy', policy);
    send(request, response, file);
  };
  router.all('/assets/:name', (request, response, next) => {
    const file = files.get(request.params.name);
    if (file === undefined) return next();
    send(request, response, file);
  });
  router.all('/', (request, response) => {
    const isBare = request.originalUrl.replace(/[?].*$/, '').endsWith('/');
    sendPage(request, response, isBare ? page : barePage);
  });
  router.all('/:nftId', (request, response) => {
    // The page itself explains a link that was cut short.
    response.status(uuid.test(request.params.nftId) ? 200 : 404);
    sendPage(request, response, page);
  });
  router.all('/:nftId/', (request, response, next) => {
    const { nftId } = request.params;
    if (!uuid.test(nftId)) return next();
    onlyReads(request);
    // A browser keeps the fragment. The address is relative, as the public address may have a path before this path.
    const query = /[?].*$/.exec(request.originalUrl)?.[0] ?? '';
    response.set(headers).redirect(308, `../${nftId}${query}`);
  });
  return router;
}

/** Puts the deployment into the page. A link without an address stays hidden. */
function fillPage(html: string, { operator, supportUrl, walletHelpUrl }: ClaimPageOptions): string {
  const withLink = (text: string, id: string, url: string | undefined) =>
    url === undefined
      ? text
      : text.replace(new RegExp(`(<a id="${id}"[^>]*) hidden>`), (_, start) => `${start} href="${url}">`);
  const linked = withLink(withLink(html, 'help', supportUrl), 'wallet-help', walletHelpUrl);
  return linked.replaceAll(placeholders.operator, operator);
}

function fileOf(text: string | Buffer, type: string): PageFile {
  const content = Buffer.from(text);
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  return { type, content, etag: `"${digest}"` };
}

/** @throws problem `method_not_allowed` for anything but GET and HEAD */
function onlyReads({ method }: Request): void {
  if (method === 'GET' || method === 'HEAD') return;
  const allow = 'GET, HEAD';
  throw problem('method_not_allowed', { method, allow }, { headers: { Allow: allow } });
}

function send(request: Request, response: Response, { type, content, etag }: PageFile): void {
  onlyReads(request);
  response.set({ ...headers, ETag: etag });
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  response.set({ 'Content-Type': type, 'Content-Length': String(content.length) });
  response.end(request.method === 'HEAD' ? undefined : content);
}
