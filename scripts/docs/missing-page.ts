import type { Layout } from './layout.ts';

/** The page for an address that the portal does not have. Its links are absolute, since it stands at any depth. */
export function missingPage(layout: Layout): string {
  const body = `      <section class="hero"><h1>Page not found</h1>
      <p class="lead">There is no page at this address. Search for it with <kbd>/</kbd>, or go on from <a href="/docs/">the start page</a>,
      <a href="/docs/problems.html">the list of errors</a> or <a href="/docs/changelog.html">the changelog</a>.</p></section>`;
  const description = 'The address leads to no page of the portal.';
  return layout.page({ title: 'Page not found', description, current: '', root: '/docs/', body });
}
