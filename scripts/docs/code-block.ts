import { highlight, type Language } from './highlight.ts';

/** A code block before it is HTML; its caption is HTML. */
export type Code = { readonly language: Language; readonly source: string; readonly caption: string };

/** A code block with its caption as HTML; colours are set here, so that the page needs no script for them. */
export function codeBlock({ language, source, caption }: Code): string {
  const code = highlight(language, source);
  return `<figure class="code"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

/** The same in several languages. A script makes tabs of it; without one they stand below each other. */
export function codeTabs(codes: readonly Code[]): string {
  return `<div class="tabs">${codes.map((code) => `<div>${codeBlock(code)}</div>`).join('\n')}</div>`;
}

/** Code blocks contain verbatim text, so they are indented nowhere. */
export const jsonText = (json: unknown): string => JSON.stringify(json, null, 2);
