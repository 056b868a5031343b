import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { documentNames, readContract } from './contract.ts';
import { readStamp, stampInputs } from './inputs.ts';
import { createLayout } from './layout.ts';
import { fillComments } from './markup.ts';
import { contentPolicy } from './policy.ts';
import { problemIndex, problemPage } from './problem-pages.ts';
import { readProblemTexts } from './problem-texts.ts';
import { findRedocly, renderReference } from './reference-page.ts';
import { createSite } from './site.ts';
import { startPage } from './start-page.ts';

const root = resolve(import.meta.dirname, '../..');
const generated = join(root, 'src/contract/generated');
const source = (name: string) => readFile(join(root, 'openapi/portal', name), 'utf8');

/** Redocly CLI is a development dependency, so a production installation cannot build the portal. */
export class RedoclyMissing extends Error {
  constructor() {
    super('Redocly CLI is not installed: the portal is built where the development dependencies are.');
    this.name = 'RedoclyMissing';
  }
}

function requireRedocly(): string {
  const redocly = findRedocly();
  if (redocly === undefined) throw new RedoclyMissing();
  return redocly;
}

/** True when `directory` holds a portal of exactly these sources. */
export async function portalIsCurrent(directory: string): Promise<boolean> {
  return (await readStamp(directory)) === (await stampInputs(root, requireRedocly()));
}

async function assemble(redocly: string) {
  const site = createSite();
  const contract = await readContract(generated);
  const assets = new Map<string, string>();
  for (const name of ['mark.svg', 'frame.css', 'page.css', 'reference.css', 'portal.js']) {
    assets.set(name, site.addAsset(name, await source(name)));
  }
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const layout = createLayout({
    template: await source('layout.html'),
    mark: await source('mark.svg'),
    version,
    contract,
    asset: (name) => assets.get(name) ?? '',
  });
  const own = (path: string, html: string) => site.add(path, html, { policy: contentPolicy(html, 'own') });
  const texts = readProblemTexts(await source('problems.yaml'));
  own('index.html', startPage(await source('start.html'), contract, layout));
  own('problems.html', problemIndex([...texts.keys()], layout));
  for (const [code, text] of texts) own(`problems/${code}.html`, problemPage(code, text, contract, layout));
  await addReferences(site, layout, redocly);
  return site;
}

async function addReferences(
  site: ReturnType<typeof createSite>,
  layout: ReturnType<typeof createLayout>,
  redocly: string,
): Promise<void> {
  const config = join(root, 'openapi/portal/redocly.yaml');
  const contract = await readContract(generated);
  const pages = await Promise.all(
    contract.map(async ({ area }) => ({ area, ...(await renderReference(area, config, redocly)) })),
  );
  const scripts = new Map<string, string>();
  for (const { area, html, script } of pages) {
    const path = scripts.get(script) ?? site.addAsset('redoc.js', script);
    scripts.set(script, path);
    const { head, header } = layout.reference(`${area}.html`);
    const page = fillComments(html, { head, header, script: `<script src="${path}"></script>` });
    site.add(`${area}.html`, page, { policy: contentPolicy(page, 'reference') });
    for (const name of documentNames(area)) {
      site.add(name, await readFile(join(generated, name), 'utf8'), { open: true });
    }
  }
}

export type BuildOptions = {
  /** Where the portal goes; replaced as a whole. */
  readonly directory: string;
  /** Called with a line about what was done. */
  readonly report?: (line: string) => void;
  /** Builds also when the portal is current. */
  readonly force?: boolean;
};

/**
 * Builds the portal unless it is current. The same sources give the same bytes.
 * @returns whether anything was built
 * @throws RedoclyMissing in an installation without development dependencies
 */
export async function buildPortal({
  directory,
  report = () => {},
  force = false,
}: BuildOptions): Promise<boolean> {
  const started = performance.now();
  const redocly = requireRedocly();
  const stamp = await stampInputs(root, redocly);
  if (!force && (await readStamp(directory)) === stamp) {
    report(`The portal in ${directory} is current.`);
    return false;
  }
  const site = await assemble(redocly);
  await site.write(resolve(directory), stamp);
  report(`Built the portal in ${directory} in ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
  return true;
}
