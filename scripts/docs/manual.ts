import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { type Guide, readGuide } from './guides.ts';
import { type Layout, neighboursAt } from './layout.ts';
import { escapeHtml } from './markup.ts';

/** Pages whose place in the portal is not that of their file. */
const moved: Readonly<Record<string, string>> = {
  'README.md': 'index',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'internals/contributing',
  'SECURITY.md': 'internals/security',
  'docs/first-nft.md': 'operate/first-nft',
  'docs/what-it-does-not-do.md': 'what-it-does-not-do',
  'docs/decisions/README.md': 'internals/decisions',
};

/** The path without `.html` of the page that the portal makes of a file; undefined where it makes none. */
function pageOf(file: string): string | undefined {
  const [, guide] = /^openapi\/portal\/guides\/(\w+)\.md$/.exec(file) ?? [];
  const [, operate, other] = /^docs\/(?:operate\/(.+)|(.+))\.md$/.exec(file) ?? [];
  if (operate !== undefined) return `operate/${operate}`;
  return moved[file] ?? guide ?? (other && `internals/${other}`);
}

/** The prefix that leads from a page to the portal's folder. */
const rootOf = (page: string): string => '../'.repeat(page.split('/').length - 1);

/** Where links of a file lead: between pages of the portal, and to its images. Other files are not served. */
function addressesOf(file: string, page: string, images: ReadonlyMap<string, string>) {
  return (href: string): string | undefined => {
    const [target = '', anchor] = href.split('#');
    const found = normalize(join(dirname(file), target));
    const other = pageOf(found);
    const path = images.get(found) ?? (other && `${other}.html`);
    if (path === undefined) return undefined;
    return `${rootOf(page)}${path}${anchor === undefined ? '' : `#${anchor}`}`;
  };
}

/** Reads the documentation of the project. `images` has the published path of each image of `docs/images`. */
export async function readManual(root: string, images: ReadonlyMap<string, string>): Promise<Guide[]> {
  const files = ['CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md', { cwd: root }).toSorted()];
  return Promise.all(
    files.map(async (file) => {
      const page = pageOf(file) ?? file;
      const addressOf = addressesOf(file, page, images);
      return readGuide(page, await readFile(join(root, file), 'utf8'), { root: rootOf(page), addressOf });
    }),
  );
}

/** Whether a page is a decision; a page of their own lists the decisions. */
export const isDecision = ({ name }: Guide): boolean => name.startsWith('internals/decisions/');

/** A page of the documentation. A decision leads to the list of decisions, and to its neighbours. */
export function manualPage(guide: Guide, all: readonly Guide[], layout: Layout): string {
  const { name, title, lead, html, headings } = guide;
  const page = { title: `${title} · Tallystick`, description: lead, depth: name.split('/').length - 1 };
  if (!isDecision(guide)) return layout.guide({ ...page, current: `${name}.html`, headings, body: html });
  const decisions = all.filter(isDecision);
  return layout.guide({
    ...page,
    current: 'internals/decisions.html',
    neighbours: neighboursAt(decisions, decisions.indexOf(guide), (other) => ({
      href: `${rootOf(name)}${other.name}.html`,
      label: other.title,
    })),
    body: `<p class="trail"><a href="../decisions.html">Decisions</a> / ${escapeHtml(title)}</p>\n${html}`,
  });
}
