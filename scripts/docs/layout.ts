import type { Area } from '../../src/config.ts';
import { aroundNav, type Neighbours, neighboursAt } from './around.ts';
import type { AreaContract } from './contract.ts';
import type { Heading } from './markdown.ts';
import { escapeHtml, fill } from './markup.ts';
import type { Navigation } from './navigation.ts';

type Page = {
  readonly title: string;
  readonly description: string;
  /** The page's own file, or that of the page of the navigation to which it belongs. */
  readonly current: string;
  /** The number of folders that it lies below the portal's. */
  readonly depth?: number;
  /** Leads to the portal's folder, where `depth` does not. */
  readonly root?: string;
  readonly body: string;
};

/** What every page shares: where its assets are, its navigation and its frame. */
export type Layout = {
  /** The whole of one of our own pages over the full width. */
  readonly page: (page: Page) => string;
  /** The same with the navigation at its side and a list of its sections. */
  readonly guide: (
    page: Page & {
      readonly headings?: readonly Heading[];
      /** What stands beside it, where that is not what the navigation says. */
      readonly neighbours?: Neighbours;
    },
  ) => string;
  /** What a page that Redocly made lacks; `calls` is the script with the panels of its operations. */
  readonly reference: (current: string, calls: string) => { readonly head: string; readonly header: string };
};

export type LayoutParts = {
  readonly template: string;
  /** The mark as SVG, shown in the header. */
  readonly mark: string;
  readonly version: string;
  readonly contract: readonly AreaContract[];
  readonly navigation: Navigation;
  /** Published path of an asset by its file name. */
  readonly asset: (name: string) => string;
};

/** Names that fit the navigation of a phone. */
const navigationLabels: Readonly<Record<Area, string>> = {
  blockchain: 'Blockchain',
  events: 'Events',
  rwa: 'RWA',
  claim: 'Claims',
};

// The same choice under the same name as on the reference pages, made before the first paint.
const colourMode = `<script>try{var m=localStorage.getItem("redoc.colorMode");if(m!=="light"&&m!=="dark")m=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light";document.documentElement.classList.add(m)}catch(e){}</script>`;

const glass =
  '<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="m10.5 10.5 3.5 3.5" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/></svg>';

const link = (href: string, label: string, current: boolean) =>
  `<a href="${href}"${current ? ' aria-current="page"' : ''}>${escapeHtml(label)}</a>`;

/** The bar at the top. Search and colours need the script, which shows their buttons. */
function createHeader({ mark, contract, navigation, asset }: LayoutParts) {
  const guides = navigation.flatMap(({ pages }) => pages.map(({ page }) => `${page}.html`));
  const path = mark.match(/<path.*\/>/)?.[0] ?? '';
  return (current: string, root: string, content = 'content', heading = '') => {
    const links = [
      link(`${root}index.html`, 'Start', current === 'index.html'),
      link(`${root}${guides[0]}`, 'Guides', guides.includes(current)),
      ...contract.map(({ area }) =>
        link(`${root}${area}.html`, navigationLabels[area], current === `${area}.html`),
      ),
    ];
    return `    <header class="bar" data-root="${root}" data-index="${root}${asset('search-index.js')}">
      <a class="skip" href="#${content}">Skip to content</a>
      <a class="brand" href="${root}index.html"><svg viewBox="0 0 24 24" aria-hidden="true">${path}</svg><span>Tallystick</span></a>
      <nav aria-label="Portal">${links.join('')}</nav>
      <button type="button" class="find" aria-label="Search" aria-keyshortcuts="/ Control+K" hidden>${glass}<span>Search</span><kbd aria-hidden="true">/</kbd></button>
      <button type="button" class="mode" aria-label="Switch between light and dark" hidden></button>${heading}
    </header>`;
  };
}

function side(navigation: Navigation, current: string, root: string): string {
  const groups = navigation.map(({ title, pages }) => {
    const items = pages.map(
      ({ page, label }) => `<li>${link(`${root}${page}.html`, label, `${page}.html` === current)}</li>`,
    );
    return `<h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul>`;
  });
  return `<nav class="side" aria-label="Guides"><details open><summary>Guides</summary>${groups.join('\n')}</details></nav>`;
}

function contents(headings: readonly Heading[]): string {
  if (headings.length < 2) return '';
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="contents" aria-labelledby="on-this-page"><h2 id="on-this-page">On this page</h2><ul>${items.join('')}</ul></nav>`;
}

/** The guides beside a page of the navigation. */
function neighboursOf(navigation: Navigation, current: string): Neighbours {
  const pages = navigation.flatMap((group) => group.pages);
  const index = pages.findIndex(({ page }) => `${page}.html` === current);
  return neighboursAt(pages, index, ({ page, label }) => ({ href: `${page}.html`, label }));
}

/** The first heading of a reference for whoever hears it, where its own is out of view; a script shows it then. */
function headingOf(contract: readonly AreaContract[], current: string): string {
  const { title = '' } = contract.find(({ area }) => `${area}.html` === current) ?? {};
  return `<h1 class="heard" hidden>Tallystick ${escapeHtml(title)}</h1>`;
}

export function createLayout(parts: LayoutParts): Layout {
  const { template, version, navigation, asset } = parts;
  const header = createHeader(parts);
  const head = (root: string, styles: readonly string[], scripts: readonly string[] = []) =>
    [
      `<link rel="icon" href="${root}${asset('mark.svg')}" type="image/svg+xml">`,
      ...styles.map((name) => `<link rel="stylesheet" href="${root}${asset(name)}">`),
      ...[asset('portal.js'), asset('search.js'), ...scripts].map(
        (path) => `<script src="${root}${path}" defer></script>`,
      ),
    ].join('\n    ');

  const page = ({ title, description, current, depth = 0, root = '../'.repeat(depth), body }: Page) => {
    return fill(template, {
      title: escapeHtml(title),
      description: escapeHtml(description),
      head: `    ${colourMode}\n    ${head(root, ['frame.css', 'code.css', 'page.css'])}`,
      header: header(current, root),
      body,
      version: escapeHtml(version),
      root,
    });
  };

  return {
    page: ({ body, ...rest }) =>
      page({ ...rest, body: `    <main id="content" tabindex="-1">\n${body}\n    </main>` }),
    guide: ({ body, headings = [], neighbours, ...rest }) => {
      const root = '../'.repeat(rest.depth ?? 0);
      const columns = [
        side(navigation, rest.current, root),
        `<main id="content" tabindex="-1">\n<article>${body}</article>\n${aroundNav(neighbours ?? neighboursOf(navigation, rest.current))}\n    </main>`,
        contents(headings),
      ];
      return page({ ...rest, body: `    <div class="columns">\n${columns.join('\n')}\n    </div>` });
    },
    reference: (current, calls) => ({
      head: head(
        '',
        ['frame.css', 'code.css', 'reference.css', 'call.css'],
        [calls, ...['answer.js', 'try-it.js', 'call-panel.js'].map(asset)],
      ),
      header: header(current, '', 'redoc', headingOf(parts.contract, current)),
    }),
  };
}
