import type { Area } from '../../src/config.ts';
import type { AreaContract } from './contract.ts';
import { escapeHtml, fill } from './markup.ts';

/** What every page shares: where its assets are, its navigation and its frame. */
export type Layout = {
  /** The whole of one of our own pages. `depth` is the number of folders that it lies below the portal's. */
  readonly page: (page: {
    readonly title: string;
    readonly description: string;
    readonly current: string;
    readonly depth?: number;
    readonly body: string;
  }) => string;
  /** Head and header for a page that Redocly made. */
  readonly reference: (current: string) => { readonly head: string; readonly header: string };
};

export type LayoutParts = {
  readonly template: string;
  /** The mark as SVG, shown in the header. */
  readonly mark: string;
  readonly version: string;
  readonly contract: readonly AreaContract[];
  /** Published path of an asset by its file name. */
  readonly asset: (name: string) => string;
};

/** Names that fit the navigation of a phone. */
const navigationLabels: Readonly<Record<Area, string>> = {
  blockchain: 'Blockchain',
  events: 'Events',
  rwa: 'RWA',
};

// The same choice under the same name as on the reference pages, made before the first paint.
const colourMode = `<script>try{var m=localStorage.getItem("redoc.colorMode");if(m!=="light"&&m!=="dark")m=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light";document.documentElement.classList.add(m)}catch(e){}</script>`;

export function createLayout({ template, mark, version, contract, asset }: LayoutParts): Layout {
  const entries = [
    { href: 'index.html', label: 'Start' },
    ...contract.map(({ area }) => ({ href: `${area}.html`, label: navigationLabels[area] })),
    { href: 'problems.html', label: 'Errors' },
  ];
  const path = mark.match(/<path.*\/>/)?.[0] ?? '';

  const header = (current: string, root: string, skip = '') => {
    const links = entries.map(({ href, label }) => {
      const here = href === current ? ' aria-current="page"' : '';
      return `<a href="${root}${href}"${here}>${escapeHtml(label)}</a>`;
    });
    return `    <header class="bar">${skip}
      <a class="brand" href="${root}index.html"><svg viewBox="0 0 24 24" aria-hidden="true">${path}</svg><span>Tallystick</span></a>
      <nav aria-label="Pages">${links.join('')}</nav>
    </header>`;
  };
  const head = (root: string, ...styles: string[]) =>
    [
      `<link rel="icon" href="${root}${asset('mark.svg')}" type="image/svg+xml">`,
      ...styles.map((name) => `<link rel="stylesheet" href="${root}${asset(name)}">`),
    ].join('\n    ');

  return {
    page: ({ title, description, current, depth = 0, body }) => {
      const root = '../'.repeat(depth);
      const script = `<script src="${root}${asset('portal.js')}" defer></script>`;
      return fill(template, {
        title: escapeHtml(title),
        description: escapeHtml(description),
        head: `    ${colourMode}\n    ${head(root, 'frame.css', 'page.css')}\n    ${script}`,
        header: header(current, root, '<a class="skip" href="#content">Skip to content</a>'),
        body,
        version: escapeHtml(version),
        root,
      });
    },
    reference: (current) => ({
      head: head('', 'frame.css', 'reference.css'),
      // No link to skip by: what stands behind the # belongs to the page's own routes.
      header: header(current, ''),
    }),
  };
}
