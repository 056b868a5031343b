import type { Area } from '../../src/config/config.ts';
import type { AreaContract } from './contract.ts';
import type { Heading } from './markdown.ts';
import { escapeHtml, fill } from './markup.ts';
import { type Navigation, pagesOf, type Section } from './navigation.ts';

type Page = {
  readonly title: string;
  readonly description: string;
  /** The page's own file, or the file of the page of the navigation to which it belongs. */
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
      /** The pages before and after it, where the navigation does not say so. */
      readonly neighbours?: Neighbours;
    },
  ) => string;
  /** The page of an area with its operations at its side. */
  readonly reference: (page: Page & { readonly groups: readonly Group[] }) => string;
};

/** A part of the list at the side of a page. */
type Group = {
  readonly title: string;
  /** `html` stands before the label. */
  readonly items: readonly (Place & { readonly html?: string })[];
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
  news: 'News',
  rwa: 'RWA',
  claim: 'Claims',
};

// Made before the first paint.
const colourMode = `<script>try{var m=localStorage.getItem("portal.colours");if(m!=="light"&&m!=="dark")m=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light";document.documentElement.classList.add(m)}catch(e){}</script>`;

const glass =
  '<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="m10.5 10.5 3.5 3.5" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/></svg>';

const link = (href: string, label: string, current: boolean, html = '') =>
  `<a href="${href}"${current ? ' aria-current="page"' : ''}>${html}${escapeHtml(label)}</a>`;

/** What only the references have. */
const referenceAssets = ['reference.css', 'call.css', 'answer.js', 'try-it.js', 'reference.js'];

/** The bar at the top. Search and colours need the script, which shows their buttons. */
function createHeader({ mark, contract, navigation, asset }: LayoutParts) {
  const sections = navigation.map((section) => ({
    title: section.title,
    files: pagesOf(section).map(({ page }) => `${page}.html`),
  }));
  const path = mark.match(/<path.*\/>/)?.[0] ?? '';
  return (current: string, root: string) => {
    const [guides = '', ...others] = sections.map(({ title, files }) =>
      link(`${root}${files[0]}`, title, files.includes(current)),
    );
    const links = [
      link(`${root}index.html`, 'Start', current === 'index.html'),
      guides,
      ...contract.map(({ area }) =>
        link(`${root}${area}.html`, navigationLabels[area], current === `${area}.html`),
      ),
      ...others,
    ];
    return `    <header class="bar" data-root="${root}" data-index="${root}${asset('search-index.js')}">
      <a class="skip" href="#content">Skip to content</a>
      <a class="brand" href="${root}index.html"><svg viewBox="0 0 24 24" aria-hidden="true">${path}</svg><span>Tallystick</span></a>
      <nav aria-label="Portal">${links.join('')}</nav>
      <button type="button" class="find" aria-label="Search" aria-keyshortcuts="/ Control+K" hidden>${glass}<span>Search</span><kbd aria-hidden="true">/</kbd></button>
      <button type="button" class="mode" aria-label="Switch between light and dark" hidden></button>
    </header>`;
  };
}

function side(label: string, groups: readonly Group[], current: string): string {
  const lists = groups.map(({ title, items }) => {
    const links = items.map(
      (item) => `<li>${link(item.href, item.label, item.href === current, item.html)}</li>`,
    );
    return `<h2>${escapeHtml(title)}</h2><ul>${links.join('')}</ul>`;
  });
  return `<nav class="side" aria-label="${label}"><details open><summary>${label}</summary>${lists.join('\n')}</details></nav>`;
}

/** The pages of a section, as a page lists them that lies below `root`. */
const sectionGroups = ({ groups }: Section, root: string): Group[] =>
  groups.map(({ title, pages }) => ({
    title,
    items: pages.map(({ page, label }) => ({ href: `${root}${page}.html`, label })),
  }));

function contents(headings: readonly Heading[]): string {
  if (headings.length < 2) return '';
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="contents" aria-labelledby="on-this-page"><h2 id="on-this-page">On this page</h2><ul>${items.join('')}</ul></nav>`;
}

/** The pages before and after a page of a section. */
function neighboursOf(section: Section, current: string, root: string): Neighbours {
  const pages = pagesOf(section);
  const index = pages.findIndex(({ page }) => `${page}.html` === current);
  return neighboursAt(pages, index, ({ page, label }) => ({ href: `${root}${page}.html`, label }));
}

/** The section that a page belongs to. */
function sectionOf(navigation: Navigation, current: string): Section {
  const section = navigation.find((each) => pagesOf(each).some(({ page }) => `${page}.html` === current));
  if (section === undefined) throw new Error(`The navigation lacks ${current}`);
  return section;
}

export function createLayout(parts: LayoutParts): Layout {
  const { template, version, navigation, asset } = parts;
  const header = createHeader(parts);
  const head = (root: string, more: readonly string[]) =>
    [
      `<link rel="icon" href="${root}${asset('mark.svg')}" type="image/svg+xml">`,
      ...['frame.css', 'code.css', 'page.css', 'portal.js', 'search.js', ...more].map((name) =>
        name.endsWith('.css')
          ? `<link rel="stylesheet" href="${root}${asset(name)}">`
          : `<script src="${root}${asset(name)}" defer></script>`,
      ),
    ].join('\n    ');

  const page = (
    { title, description, current, depth = 0, root = '../'.repeat(depth), body }: Page,
    more: readonly string[] = [],
  ) => {
    return fill(template, {
      title: escapeHtml(title),
      description: escapeHtml(description),
      head: `    ${colourMode}\n    ${head(root, more)}`,
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
      const section = sectionOf(navigation, rest.current);
      const around = aroundNav(neighbours ?? neighboursOf(section, rest.current, root));
      const columns = [
        side(section.title, sectionGroups(section, root), `${root}${rest.current}`),
        `<main id="content" tabindex="-1">\n<article>${body}</article>\n${around}\n    </main>`,
        contents(headings),
      ];
      return page({ ...rest, body: `    <div class="columns">\n${columns.join('\n')}\n    </div>` });
    },
    reference: ({ body, groups, ...rest }) => {
      const main = `<main id="content" tabindex="-1">\n<article>${body}</article>\n    </main>`;
      const columns = `${side('Operations', groups, '')}\n${main}`;
      return page(
        { ...rest, body: `    <div class="columns reference">\n${columns}\n    </div>` },
        referenceAssets,
      );
    },
  };
}

/** A page, or a place on one, by what its reader calls it. */
export type Place = { readonly href: string; readonly label: string };

type Neighbours = { readonly previous?: Place | undefined; readonly next?: Place | undefined };

/** What stands before and after the item at `index` of a list. */
export function neighboursAt<T>(items: readonly T[], index: number, placeOf: (item: T) => Place): Neighbours {
  const at = (position: number) => {
    const item = items[position];
    return item === undefined ? undefined : placeOf(item);
  };
  return { previous: index > 0 ? at(index - 1) : undefined, next: index < 0 ? undefined : at(index + 1) };
}

const linkAround = (rel: 'prev' | 'next', word: string, place: Place | undefined) =>
  place === undefined
    ? ''
    : `<a rel="${rel}" href="${escapeHtml(place.href)}"><span>${word}</span> ${escapeHtml(place.label)}</a>`;

/** The way on from a page to those before and after it; nothing where there are none. */
export function aroundNav({ previous, next }: Neighbours, label = 'Previous and next'): string {
  const links = `${linkAround('prev', 'Previous', previous)}${linkAround('next', 'Next', next)}`;
  return links === '' ? '' : `<nav class="around" aria-label="${escapeHtml(label)}">${links}</nav>`;
}
