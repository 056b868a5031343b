import { createHash } from 'node:crypto';

const inlineScript = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The CSP sources of the scripts that stand in a page, one hash for each. */
function scriptHashes(html: string): string[] {
  const hashes = [...html.matchAll(inlineScript)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [...new Set(hashes)];
}

export type PageKind = 'own' | 'reference' | 'redoc';

/**
 * The Content-Security-Policy of a page: nothing but what it is seen to need. What a reader tries on a reference is sent
 * to the service that serves it. Redoc writes its styles into the page, and searches in a worker that it makes.
 */
export function contentPolicy(html: string, kind: PageKind): string {
  return [
    "default-src 'none'",
    ['script-src', "'self'", ...scriptHashes(html)].join(' '),
    `style-src 'self'${kind === 'redoc' ? " 'unsafe-inline'" : ''}`,
    ...(kind === 'redoc' ? ['worker-src blob:'] : []),
    ...(kind === 'reference' ? ["connect-src 'self'"] : []),
    "font-src 'self' data:",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
  ].join('; ');
}
