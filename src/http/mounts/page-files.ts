import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Request, RequestHandler, Response } from 'express';
import { problem } from '../../base/errors.ts';
import { placeholders } from './deployment.ts';

/** A file of a page, as it is sent. */
export type PageFile = {
  readonly type: string;
  readonly content: Buffer;
  /** SHA-256 of the content, in base64url. */
  readonly digest: string;
};

/** What a page says of the deployment that serves it. */
export type PageOptions = {
  readonly operator: string;
  /** Where people find help; without it the page names nothing. */
  readonly supportUrl?: string | undefined;
};

const pages = new URL('../../pages/', import.meta.url);
const script = 'text/javascript; charset=utf-8';
const html = 'text/html; charset=utf-8';

const headers = {
  'Cache-Control': 'public, no-cache',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
} as const;

/** The Content-Security-Policy of a page: its own scripts and styles, and what the page adds. */
export const pagePolicy = (...more: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ...more,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
  ].join('; ');

/** A file of text. */
export function fileOf(content: string | Buffer, type = script): PageFile {
  const bytes = Buffer.from(content);
  return { type, content: bytes, digest: createHash('sha256').update(bytes).digest('base64url') };
}

/**
 * The scripts and styles of a page, by the paths below the page: the files of its folder in `assets/`, and the files that
 * pages share in `shared/`.
 */
export function filesOfPage(name: string): Map<string, PageFile> {
  return new Map([...filesIn(name, 'assets'), ...filesIn('shared', 'shared')]);
}

const filesIn = (folder: string, place: string) =>
  readdirSync(new URL(`${folder}/`, pages))
    .filter((name) => !name.endsWith('.html'))
    .map((name) => {
      const type = name.endsWith('.css') ? 'text/css; charset=utf-8' : script;
      return [`${place}/${name}`, fileOf(readFileSync(new URL(`${folder}/${name}`, pages)), type)] as const;
    });

/**
 * The HTML of a page, with the deployment in it.
 * @param links addresses by the ids of their links; a link without an address stays hidden
 */
export function htmlOfPage(
  name: string,
  { operator }: PageOptions,
  links: Readonly<Record<string, string | undefined>>,
): string {
  const written = readFileSync(new URL(`${name}/page.html`, pages), 'utf8');
  const linked = Object.entries(links).reduce(
    (text, [id, url]) =>
      url === undefined
        ? text
        : text.replace(new RegExp(`(<a id="${id}"[^>]*) hidden>`), (_, start) => `${start} href="${url}">`),
    written,
  );
  return linked.replaceAll(placeholders.operator, operator);
}

/** The file of the HTML. With `above` its addresses are relative to the folder above the page. */
export const pageFile = (text: string, above?: string): PageFile =>
  fileOf(
    above === undefined
      ? text
      : text.replaceAll(/="(assets|shared)\//g, (_, place) => `="${above}/${place}/`),
    html,
  );

/** Sends the files of a page. All other requests pass on. */
export const sendFiles =
  (files: ReadonlyMap<string, PageFile>): RequestHandler =>
  (request, response, next) => {
    const file = files.get(request.path.slice(1));
    if (file === undefined) return next();
    return sendFile(request, response, file);
  };

/** @throws problem `method_not_allowed` for anything but GET and HEAD */
function onlyReads({ method }: Request): void {
  if (method === 'GET' || method === 'HEAD') return;
  const allow = 'GET, HEAD';
  throw problem('method_not_allowed', { method, allow }, { headers: { Allow: allow } });
}

/** @param more headers of this file alone, such as its policy */
export function sendFile(
  request: Request,
  response: Response,
  { type, content, digest }: PageFile,
  more: Readonly<Record<string, string>> = {},
): void {
  onlyReads(request);
  response.set({ ...headers, ...more, ETag: `"${digest.slice(0, 16)}"` });
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  response.set({ 'Content-Type': type, 'Content-Length': String(content.length) });
  response.end(request.method === 'HEAD' ? undefined : content);
}

/**
 * Leads a request with a slash at its end to the address without the slash. A browser keeps the fragment. The address is
 * relative, as the public address may have a path before this path.
 */
export function leadOn(request: Request, response: Response, name: string): void {
  onlyReads(request);
  const query = /[?].*$/.exec(request.originalUrl)?.[0] ?? '';
  response.set(headers).redirect(308, `../${name}${query}`);
}
