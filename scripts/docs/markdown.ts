import { Marked, type Tokens } from 'marked';
import { createAnchors } from './anchors.ts';
import { codeBlock } from './code-block.ts';
import { isLanguage } from './highlight.ts';
import { escapeHtml } from './markup.ts';

export type Heading = { readonly id: string; readonly text: string };

export type Rendered = {
  readonly html: string;
  /** The sections of the text, in order; their ids are the anchors in `html`. */
  readonly headings: readonly Heading[];
  /** The rows of tables that begin with a name as code, such as a setting; their ids are anchors in `html`, too. */
  readonly names: readonly Heading[];
  /** The first paragraph, as text. */
  readonly lead: string;
};

/** Makes the HTML of `{{name argument}}` on a line of its own. */
export type Inserts = Readonly<Record<string, (argument: string) => string>>;

export type RenderOptions = {
  /** Prefix that leads from the page to the portal's folder. */
  readonly root: string;
  readonly inserts?: Inserts;
  /** Gives the address of a link or an image, where that is not its address below `root`. A link without an address is text. */
  readonly addressOf?: (href: string) => string | undefined;
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
  sql: 'SQL',
  text: 'Text',
};

const plain = (text: string) => text.replaceAll('`', '');

const isOutside = (href: string) => /^(\w+:|#)/.test(href);

/** The names that git hosts know for languages of ours. */
const aliases: Readonly<Record<string, string>> = {
  sh: 'shell',
  ts: 'typescript',
  markdown: 'text',
  '': 'text',
};

function fence({ text, lang = '' }: Tokens.Code): string {
  const language = aliases[lang] ?? lang;
  if (!isLanguage(language)) throw new Error(`No code block can be in the language ${lang}`);
  return codeBlock({ language, source: text, caption: captions[language] ?? language });
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
export function renderMarkdown(
  text: string,
  { root, inserts = {}, addressOf = (href) => `${root}${href}` }: RenderOptions,
): Rendered {
  const headings: Heading[] = [];
  const names: Heading[] = [];
  const [anchorOf, rowOf] = [createAnchors(), createAnchors()];
  let lead = '';
  const marked = new Marked({ extensions: [insertExtension(inserts)] });
  marked.use({
    renderer: {
      code: fence,
      html: ({ text: markup }) => (markup.startsWith('<!--') ? '' : escapeHtml(markup)),
      heading({ tokens, depth, text: raw }) {
        const id = anchorOf(raw);
        if (depth === 2) headings.push({ id, text: plain(raw) });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, text, tokens }) {
        const address = isOutside(href) ? href : addressOf(href);
        const label = this.parser.parseInline(tokens);
        if (address !== undefined) return `<a href="${escapeHtml(address)}">${label}</a>`;
        const code = `<code>${escapeHtml(href.replace(/^(\.\.\/)+/, ''))}</code>`;
        return href.endsWith(text) ? code : `${label} (${code})`;
      },
      image({ href, text: alt }) {
        const address = addressOf(href);
        if (address === undefined) throw new Error(`The portal has no image ${href}`);
        return `<img class="drawing" src="${escapeHtml(address)}" alt="${escapeHtml(alt)}">`;
      },
      paragraph({ tokens }) {
        const inner = this.parser.parseInline(tokens);
        lead ||= this.parser.parseInline(tokens, this.parser.textRenderer).replaceAll(/\s+/g, ' ');
        return `<p>${inner}</p>\n`;
      },
      table(token) {
        // On a phone the cells of a row are below each other. Many cells need their names there.
        const labelOf = (column: number) =>
          token.header.length > 4 ? ` data-label="${escapeHtml(token.header[column]?.text ?? '')}"` : '';
        const cellOf = ({ tokens }: Tokens.TableCell, scope = '', label = '') => {
          const tag = scope === '' || tokens.length === 0 ? 'td' : 'th';
          return `<${tag}${tag === 'th' ? ` scope="${scope}"` : label}>${this.parser.parseInline(tokens)}</${tag}>`;
        };
        const head = token.header.map((cell) => cellOf(cell, 'col')).join('');
        const rows = token.rows.map((cells) => {
          const [, name] = /^`(\w+)`$/.exec(cells[0]?.text ?? '') ?? [];
          const id = name === undefined ? '' : rowOf(`row-${name}`);
          if (name !== undefined) names.push({ id, text: name });
          const html = cells
            .map((cell, index) => cellOf(cell, index === 0 ? 'row' : '', labelOf(index)))
            .join('');
          return `<tr${id === '' ? '' : ` id="${id}"`}>${html}</tr>`;
        });
        return `<table class="stack"><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>\n`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { html, headings, names, lead };
}

/** Short hand-written text without headings. */
export const prose = (text: string, root: string): string => renderMarkdown(text, { root }).html.trim();
