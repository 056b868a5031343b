import { escapeHtml } from './markup.ts';

type Language = 'shell' | 'json';

// Alternatives in order: a key, any other string, a number or literal.
const jsonTokens = /("(?:[^"\\]|\\.)*")(?=\s*:)|("(?:[^"\\]|\\.)*")|\b(-?\d+(?:\.\d+)?|true|false|null)\b/g;
const shellTokens = /(#.*$)|('[^']*'|"[^"]*")|(?<=\s)(-[a-zA-Z]\b|--[a-z-]+)/gm;

function mark(text: string, tokens: RegExp, classes: readonly string[]): string {
  let done = 0;
  let html = '';
  for (const match of text.matchAll(tokens)) {
    const kind = classes[match.slice(1).findIndex((group) => group !== undefined)] ?? '';
    html += `${escapeHtml(text.slice(done, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    done = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(done));
}

/** A code block with its caption; colours are set here, so that the page needs no script for them. */
export function codeBlock(language: Language, text: string, caption: string): string {
  const code =
    language === 'json' ? mark(text, jsonTokens, ['k', 's', 'n']) : mark(text, shellTokens, ['c', 's', 'k']);
  return `<figure><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

/** Code blocks hold verbatim text, so they are indented nowhere. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);
