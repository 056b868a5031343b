import { globSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { partnersFolder } from '../../src/http/mounts/portal-files.ts';
import { published } from '../contract/published.ts';
import { type AreaContract, deployed, readContract } from './contract.ts';
import { type Guide, guideInserts, guidePage, readGuide } from './guides.ts';
import { readStamp, stampInputs } from './inputs.ts';
import { createLayout, type Layout } from './layout.ts';
import { llmsText } from './llms.ts';
import { isDecision, manualPage, readManual } from './manual.ts';
import { readNavigation, sectionsWith } from './navigation.ts';
import { type PublishedDocument, postmanCollection } from './postman.ts';
import { problemPage, readProblemTexts } from './problem-pages.ts';
import { nulls, packages, recipes } from './recipes.ts';
import { redocSite } from './redoc.ts';
import { referencePage } from './reference.ts';
import { readSynonyms, searchIndex } from './search-index.ts';
import { createSite, type Site, writeSites } from './site.ts';
import { startPage } from './start-page.ts';

const root = resolve(import.meta.dirname, '../..');
const generated = join(root, 'src/contract/generated');
const portal = join(root, 'openapi/portal');
const assetNames = [
  'mark.svg',
  'frame.css',
  'code.css',
  'page.css',
  'reference.css',
  'call.css',
  'portal.js',
  'search.js',
  'answer.js',
  'try-it.js',
  'reference.js',
];
const source = (name: string) => readFile(join(portal, name), 'utf8');

/** The texts of a folder of the portal, by the names of their files. */
async function readFolder(folder: string): Promise<Map<string, string>> {
  const names = (await readdir(join(portal, folder))).sort();
  return new Map(
    await Promise.all(names.map(async (name) => [name, await source(join(folder, name))] as const)),
  );
}

async function readGuides(contract: readonly AreaContract[], images: Images): Promise<Guide[]> {
  const [texts, programs] = await Promise.all([readFolder('guides'), readFolder('programs')]);
  const inserts = guideInserts({
    contract,
    programs,
    nulls: await recipes(root, nulls),
    packages: await recipes(root, packages),
  });
  // Links of guides are addresses of the portal already.
  const addressOf = (href: string) => images.get(join('openapi/portal/guides', href)) ?? href;
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  const written = [...texts].map(([file, text]) =>
    readGuide(file.replace(/\.md$/, ''), text, { root: '', inserts, addressOf }),
  );
  return [...written, readGuide('changelog', changelog, { root: '' })];
}

/** The published path of each image of the documentation, by its file. */
type Images = ReadonlyMap<string, string>;

async function addImages(site: Site): Promise<Images> {
  const images = new Map<string, string>();
  for (const file of globSync('docs/images/*.svg', { cwd: root }).toSorted()) {
    images.set(file, site.addAsset(basename(file), await readFile(join(root, file), 'utf8')));
  }
  return images;
}

/** What both portals have: the contract, its documents and their pages of Redoc. */
type Shared = { readonly contract: readonly AreaContract[]; readonly documents: Site };

/** @param guidesOnly whether pages for operators and developers are left out */
async function assemble({ contract, documents }: Shared, guidesOnly: boolean): Promise<Site> {
  const site = createSite();
  const images = await addImages(site);
  const guides = await readGuides(contract, images);
  const whole = await readManual(root, images);
  const manual = guidesOnly ? [] : whole;
  const namesOf = (pages: readonly Guide[]) =>
    [...guides, ...pages.filter((page) => !isDecision(page))].map(({ name }) => name);
  const synonyms = readSynonyms(await source('synonyms.yaml'));
  const index = await searchIndex({ contract, guides, manual, synonyms });
  const assets = new Map([['search-index.js', site.addAsset('search-index.js', index)]]);
  for (const name of assetNames) {
    assets.set(name, site.addAsset(name, await source(name)));
  }
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const layout = createLayout({
    template: await source('layout.html'),
    mark: await source('mark.svg'),
    version,
    contract,
    navigation: sectionsWith(
      readNavigation(await source('navigation.yaml'), namesOf(whole)),
      namesOf(manual),
    ),
    asset: (name) => assets.get(name) ?? '',
  });
  const own = (path: string, html: string) => site.add(path, html, { page: 'own' });
  own('index.html', startPage(await source('start.html'), contract, layout));
  for (const guide of guides) own(`${guide.name}.html`, guidePage(guide, layout));
  for (const page of manual) own(`${page.name}.html`, manualPage(page, manual, layout));
  const texts = readProblemTexts(await source('problems.yaml'));
  own('missing.html', missingPage(layout));
  for (const [code, text] of texts) own(`problems/${code}.html`, problemPage(code, text, contract, layout));
  for (const each of contract) {
    site.add(`${each.area}.html`, referencePage(each, layout), { page: 'reference' });
  }
  for (const [path, { content, file }] of documents.entries) site.add(path, content, file);
  site.add(
    'llms.txt',
    llmsText(
      contract,
      guides,
      manual.filter((page) => !isDecision(page)),
    ),
    { open: true },
  );
  return site;
}

/** The documents in all forms, as a Postman collection and as pages of Redoc, saying where they are served. */
async function documentSite(contract: readonly AreaContract[]): Promise<Site> {
  const current: PublishedDocument[] = [];
  const made: [string, string][] = [];
  for (const own of contract) {
    for (const name of [own.area, `${own.area}-3.0`]) {
      const document = deployed(
        JSON.parse(await readFile(join(generated, `${name}.json`), 'utf8')),
        own.basePath,
      );
      made.push(...published(name, document));
      if (name === own.area) current.push({ own, document });
    }
  }
  made.push(['openapi.postman.json', await postmanCollection(current)]);
  const site = await redocSite(current);
  for (const [file, content] of made) site.add(file, content, { open: true });
  return site;
}

export type BuildOptions = {
  /** Where the portal goes; replaced as a whole. */
  readonly directory: string;
  /** Called with a line about what was done. */
  readonly report?: (line: string) => void;
};

/**
 * Builds the portal, and the portal of partners in its folder, unless they are current. The same sources give the same
 * bytes.
 * @returns whether anything was built
 */
export async function buildPortal({ directory, report = () => {} }: BuildOptions): Promise<boolean> {
  const started = performance.now();
  const stamp = await stampInputs(root);
  if ((await readStamp(directory)) === stamp) {
    report(`The portal in ${directory} is current.`);
    return false;
  }
  const contract = await readContract(generated);
  const shared = { contract, documents: await documentSite(contract) };
  const sites = { '.': await assemble(shared, false), [partnersFolder]: await assemble(shared, true) };
  await writeSites(resolve(directory), stamp, sites);
  report(`Built the portal in ${directory} in ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
  return true;
}

/** The page for an address that the portal does not have. Its links are absolute, since it stands at any depth. */
function missingPage(layout: Layout): string {
  const body = `      <section class="hero"><h1>Page not found</h1>
      <p class="lead">There is no page at this address. Search for it with <kbd>/</kbd>, or go on from <a href="/docs/">the start page</a>,
      <a href="/docs/problems.html">the list of errors</a> or <a href="/docs/changelog.html">the changelog</a>.</p></section>`;
  const description = 'The address leads to no page of the portal.';
  return layout.page({ title: 'Page not found', description, current: '', root: '/docs/', body });
}
