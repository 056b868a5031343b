import { escapeHtml } from './markup.ts';

// What is coloured: alternatives in order, each a group of the name of its class.
const text = String.raw`(?<string>\`(?:[^\`\\]|\\.)*\`|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`;
const value = String.raw`(?<value>\b\d+(?:\.\d+)?\b|\b(?:true|false|null|undefined|True|False|None)\b)`;
const grammars = {
  shell: new RegExp(
    String.raw`(?<comment>(?<=^|\s)#.*$)|(?<name>\$\w+|(?<=\s)--?[a-zA-Z]+)|${text}|(?<word>^(?:export|while|do|done|if|case)\b|^[A-Z_]+(?==))`,
    'gm',
  ),
  json: new RegExp(String.raw`(?<name>"(?:[^"\\]|\\.)*"(?=\s*:))|${text}|${value}`, 'g'),
  http: /(?<name>^[\w-]+(?=:))|(?<word>^(?:GET|POST|HTTP\/1\.1)\b)/gm,
  typescript: new RegExp(
    String.raw`(?<comment>\/\/.*$)|${text}|(?<word>\b(?:async|await|catch|const|do|for|function|if|let|new|of|return|throw|while)\b)|${value}`,
    'gm',
  ),
  python: new RegExp(
    String.raw`(?<comment>#.*$)|${text}|(?<word>\b(?:as|def|except|for|from|if|import|in|not|or|pass|print|raise|return|try|while|with)\b)|${value}`,
    'gm',
  ),
  text: /(?!)/g,
};

export type Language = keyof typeof grammars;

/** A code block before it is HTML; its caption is HTML. */
export type Code = { readonly language: Language; readonly source: string; readonly caption: string };

/** The names that a fence may have. */
export const isLanguage = (name: string): name is Language => name in grammars;

function coloured(language: Language, source: string): string {
  let done = 0;
  let html = '';
  for (const match of source.matchAll(grammars[language])) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, part]) => part !== undefined) ?? [];
    html += `${escapeHtml(source.slice(done, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    done = match.index + match[0].length;
  }
  return html + escapeHtml(source.slice(done));
}

/** A code block with its caption as HTML; colours are set here, so that the page needs no script for them. */
export function codeBlock({ language, source, caption }: Code): string {
  const code = coloured(language, source);
  return `<figure class="code"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

/** The same in several languages. A script makes tabs of it; without one they stand below each other. */
export function codeTabs(codes: readonly Code[]): string {
  return `<div class="tabs">${codes.map((code) => `<div>${codeBlock(code)}</div>`).join('\n')}</div>`;
}

/** Code blocks hold verbatim text, so they are indented nowhere. */
export const jsonText = (json: unknown): string => JSON.stringify(json, null, 2);
