import { Marked, type Tokens } from 'marked';
import { codeBlock } from './code-block.ts';
import { isLanguage } from './highlight.ts';
import { escapeHtml } from './markup.ts';

export type Heading = { readonly id: string; readonly text: string };

export type Rendered = {
  readonly html: string;
  /** The sections of the text, in order; their ids are the anchors in `html`. */
  readonly headings: readonly Heading[];
};

/** Makes the HTML of `{{name argument}}` on a line of its own. */
export type Inserts = Readonly<Record<string, (argument: string) => string>>;

type Options = {
  /** Prefix that leads from the page to the portal's folder. */
  readonly root: string;
  readonly inserts?: Inserts;
};

const captions: Readonly<Record<string, string>> = {
  shell: 'Shell',
  http: 'HTTP',
  json: 'JSON',
  typescript: 'TypeScript',
  python: 'Python',
  go: 'Go',
  java: 'Java',
  kotlin: 'Kotlin',
  rust: 'Rust',
  text: 'Text',
};

const anchorOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\w]+/g, '-')
    .replaceAll(/^-|-$/g, '');

const plain = (text: string) => text.replaceAll('`', '');

const isOutside = (href: string) => /^(\w+:|#)/.test(href);

function fence({ text, lang = 'text' }: Tokens.Code): string {
  if (!isLanguage(lang)) throw new Error(`No code block can be in the language ${lang}`);
  return codeBlock({ language: lang, source: text, caption: captions[lang] ?? lang });
}

/** `{{name argument}}` on a line of its own, which our own code fills in. */
function insertExtension(inserts: Inserts) {
  return {
    name: 'insert',
    level: 'block' as const,
    start: (source: string) => source.match(/^\{\{/m)?.index,
    tokenizer: (source: string) => {
      const match = /^\{\{(\w+)(?: ([\w.-]+))?\}\}(?:\n|$)/.exec(source);
      return match ? { type: 'insert', raw: match[0], name: match[1], argument: match[2] ?? '' } : undefined;
    },
    renderer: (token: Tokens.Generic) => {
      const insert = inserts[String(token['name'])];
      if (insert === undefined) throw new Error(`Nothing is known as {{${token['name']}}}`);
      return insert(String(token['argument']));
    },
  };
}

/**
 * Hand-written Markdown as HTML. Addresses are relative to the portal's folder; markup in the text stays text.
 * @throws Error when it names a language or an insert that is unknown
 */
export function renderMarkdown(text: string, { root, inserts = {} }: Options): Rendered {
  const headings: Heading[] = [];
  const seen = new Map<string, number>();
  const marked = new Marked({ extensions: [insertExtension(inserts)] });
  marked.use({
    renderer: {
      code: fence,
      html: ({ text: markup }) => escapeHtml(markup),
      heading({ tokens, depth, text: raw }) {
        const anchor = anchorOf(plain(raw));
        const before = (seen.get(anchor) ?? 0) + 1;
        seen.set(anchor, before);
        const id = before === 1 ? anchor : `${anchor}-${before}`;
        if (depth === 2) headings.push({ id, text: plain(raw) });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const address = isOutside(href) ? href : `${root}${href}`;
        return `<a href="${escapeHtml(address)}">${this.parser.parseInline(tokens)}</a>`;
      },
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const rows = token.rows.map(([first, ...rest]) => {
          const head = first ? `<th scope="row">${this.parser.parseInline(first.tokens)}</th>` : '';
          return `<tr>${head}${cells(rest, 'td')}</tr>`;
        });
        return `<table class="stack"><thead><tr>${cells(token.header, 'th scope="col"').replaceAll('</th scope="col">', '</th>')}</tr></thead><tbody>${rows.join('\n')}</tbody></table>\n`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { html, headings };
}

/** Short hand-written text without headings. */
export const prose = (text: string, root: string): string => renderMarkdown(text, { root }).html.trim();
