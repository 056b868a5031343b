import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runRedocly } from '../redocly.ts';
import type { PublishedDocument } from './postman.ts';
import { createSite, type Site } from './site.ts';

// The script that `build-docs` puts into its pages, which they would else load from its maker.
const bundle = resolve(import.meta.dirname, '../../node_modules/@redocly/cli/lib/chunks/redoc.standalone.js');
// An image that the reader's browser must not ask for. Redoc shows none where it is no image.
const logo = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g;

/** A page of Redoc for each document at `redoc/<area>.html`, and its script, which the pages share. */
export async function redocSite(documents: readonly PublishedDocument[]): Promise<Site> {
  const site = createSite();
  const script = await readFile(bundle, 'utf8');
  const [, version] = /Version: ([\d.]+)/.exec(script) ?? [];
  const path = `redoc/v${version}/bundles/redoc.standalone.js`;
  site.add(path, script.replaceAll(logo, 'data:,'), { immutable: true });
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-redoc-'));
  try {
    const pages = documents.map(async ({ own: { area, title }, document }) => {
      const [source, page] = [join(folder, `${area}.json`), join(folder, `${area}.html`)];
      await writeFile(source, JSON.stringify(document));
      const template = ['--template', 'openapi/portal/redoc.html', `--templateOptions.area=${area}`];
      const config = ['--config', 'openapi/redocly.yaml', '--lint-config', 'off'];
      await runRedocly('build-docs', source, '--title', title, '--output', page, ...template, ...config);
      return [area, await readFile(page, 'utf8')] as const;
    });
    for (const [area, html] of await Promise.all(pages)) {
      site.add(`redoc/${area}.html`, html, { page: 'redoc' });
    }
    return site;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
