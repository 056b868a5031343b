import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { marked, type Token, type Tokens } from 'marked';
import { createAnchors } from './docs/anchors.ts';

/*
 * Fails where a Markdown file of the project links to a file or a heading that does not exist. Links of the portal's
 * guides lead to pages that are built; npm run test:portal follows them.
 */

const isLink = (token: Token): token is Tokens.Link | Tokens.Image =>
  token.type === 'link' || token.type === 'image';
const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

/** Every token of a page that fits, at any depth. */
function found<T extends Token>(text: string, fits: (token: Token) => token is T): T[] {
  const all: T[] = [];
  marked.walkTokens(marked.lexer(text), (token) => {
    if (fits(token)) all.push(token);
  });
  return all;
}

/** The anchors of the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const anchorOf = createAnchors();
  return new Set(found(text, isHeading).map((heading) => anchorOf(heading.text)));
}

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']);
const pages = listed
  .toString()
  .split('\n')
  .filter((page) => page !== '' && existsSync(page) && !page.startsWith('openapi/portal/guides/'));
const texts = new Map(pages.map((page) => [page, readFileSync(page, 'utf8')]));

const broken: string[] = [];
let count = 0;
for (const [page, text] of texts) {
  for (const { href } of found(text, isLink)) {
    if (/^[a-z]+:/.test(href)) continue;
    count += 1;
    const [file = '', anchor] = decodeURI(href).split('#');
    const target = file === '' ? page : path.join(path.dirname(page), file);
    if (!existsSync(target)) broken.push(`${page}: ${href}: there is no such file`);
    else if (
      anchor !== undefined &&
      target.endsWith('.md') &&
      !anchorsOf(texts.get(target) ?? '').has(anchor)
    )
      broken.push(`${page}: ${href}: there is no such heading`);
  }
}

process.stdout.write(broken.length === 0 ? `${count} links\n` : `${broken.join('\n')}\n`);
process.exitCode = broken.length === 0 ? 0 : 1;
