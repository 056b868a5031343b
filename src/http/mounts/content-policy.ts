import { createHash } from 'node:crypto';

const inlineScript = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** The CSP sources of the scripts that stand in a page, one hash for each. */
function scriptHashes(html: string): string[] {
  const hashes = [...html.matchAll(inlineScript)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [...new Set(hashes)];
}

/**
 * The Content-Security-Policy of a page: nothing but what it is seen to need. What a reader tries on a reference is sent
 * to the service that serves it.
 */
export function contentPolicy(html: string, kind: 'own' | 'reference'): string {
  return [
    "default-src 'none'",
    ['script-src', "'self'", ...scriptHashes(html)].join(' '),
    "style-src 'self'",
    ...(kind === 'reference' ? ["connect-src 'self'"] : []),
    "font-src 'self' data:",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
  ].join('; ');
}
