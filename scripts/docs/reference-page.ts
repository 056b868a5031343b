import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Area } from '../../src/config.ts';
import { documentForms } from './documents.ts';

/** A page as Redocly renders it, and the script that the pages of all areas share. */
export type Reference = { readonly html: string; readonly script: string };

// Redocly's maker's logo comes from a content network; this stands in for it, in a blue for light and dark.
const logo =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%2246%22 height=%2214%22%3E%3Ctext y=%2211%22 font-family=%22sans-serif%22 font-size=%2211%22 fill=%22%235b7fd6%22%3ERedocly%3C/text%3E%3C/svg%3E';

/** Where Redocly CLI is installed, or undefined in an installation without development dependencies. */
function findRedocly(): string | undefined {
  try {
    return dirname(fileURLToPath(import.meta.resolve('@redocly/cli/package.json')));
  } catch {
    return undefined;
  }
}

/** Redocly CLI is a development dependency, so a production installation cannot build the portal. */
export class RedoclyMissing extends Error {
  constructor() {
    super('Redocly CLI is not installed: the portal is built where the development dependencies are.');
    this.name = 'RedoclyMissing';
  }
}

/** Where Redocly CLI is installed. @throws RedoclyMissing */
export function requireRedocly(): string {
  const redocly = findRedocly();
  if (redocly === undefined) throw new RedoclyMissing();
  return redocly;
}

/** Replaces text of the maker's script; fails when a new version no longer has it exactly `count` times. */
function replaceExactly(text: string, from: string, to: string, count: number): string {
  const parts = text.split(from);
  if (parts.length !== count + 1) {
    throw new Error(
      `Redocly's script has "${from}" ${parts.length - 1} times, not ${count}: adapt scripts/docs/`,
    );
  }
  return parts.join(to);
}

/** What is changed in the maker's script: text that it has, what stands there instead, and how often. */
const changes: readonly (readonly [from: string, to: string, count: number])[] = [
  ['https://cdn.redoc.ly/redoc/logo-mini-full.svg', logo, 1],
  ['https://cdn.redoc.ly/redoc/logo-mini.svg', logo, 1],
  // Allowed in modules only. It would load parts of a search library by address, which never happens here.
  ['import.meta', '({})', 4],
  // The button shows which example is chosen; a name apart from its text hides that from a screen reader.
  ['"aria-label":`Example`,options:', 'options:', 1],
  // It looks whether code may be made from text, for the search that our bar replaces; the policy forbids it.
  ['let e=globalThis;try{return e._factory??=Function(XDe),!0}catch{return!1}', 'return!1', 1],
  // A server that begins with a variable is not relative to the page.
  ['return n?Yue(n,e):e}', 'return n&&e[0]!=="{"?Yue(n,e):e}', 1],
];

/** Makes the maker's module a classic script of ours, which a page can also load from a folder on disk. */
function adaptScript(module: string): string {
  const script = changes.reduce((text, change) => replaceExactly(text, ...change), module);
  return `'use strict';\n${script}\n`;
}

/** Takes the script of 2.3 MB out of the page, so that the areas share one cached copy. */
function splitScript(html: string): Reference {
  const open = '<script type="module">';
  const end = 'export{RedocStandalone,hydrate,init};';
  const from = html.indexOf(open);
  const to = html.indexOf(end, from);
  if (from === -1 || to === -1)
    throw new Error("Redocly's page has another form than expected: adapt scripts/docs/");
  const script = adaptScript(html.slice(from + open.length, to).trim());
  // The links that were rendered here name routes; the page finds its routes behind the #.
  const rendered = html.slice(0, from).replaceAll(/(<a [^>]*href=")\//g, '$1#/');
  const rest = html.slice(to + end.length);
  return { html: `${rendered}<!--portal:script-->\n      <script>${rest}`, script };
}

/** What Redocly is told of an area's page. The template's comments are filled in by build.ts. */
const configOf = (area: Area) => ({
  telemetry: 'off',
  apis: {
    [area]: {
      root: 'document.json',
      openapi: {
        htmlTemplate: 'area.hbs',
        scrollYOffset: 56,
        sortRequiredPropsFirst: true,
        jsonSamplesExpandLevel: 3,
        downloadUrls: documentForms(area).map(({ title, file }) => ({ title, url: file })),
      },
    },
  },
});

export type ReferenceSource = {
  readonly area: Area;
  /** The bundle, with what only its page shows. */
  readonly document: unknown;
  /** File of the page's template. */
  readonly template: string;
  /** Where Redocly CLI is installed. */
  readonly redocly: string;
};

/**
 * Renders the page of an area. Redocly runs without the caller's environment and with telemetry and its look
 * for updates turned off, and reads only local files: it needs no network.
 */
export async function renderReference({
  area,
  document,
  template,
  redocly,
}: ReferenceSource): Promise<Reference> {
  const directory = await mkdtemp(join(tmpdir(), 'tallystick-docs-'));
  try {
    const config = join(directory, 'redocly.yaml');
    const output = join(directory, `${area}.html`);
    // JSON is YAML too.
    await writeFile(config, JSON.stringify(configOf(area)));
    await writeFile(join(directory, 'document.json'), JSON.stringify(document));
    await copyFile(template, join(directory, 'area.hbs'));
    const args = ['build-docs', area, '--config', config, '--inlineBundle', '--output', output];
    await promisify(execFile)(process.execPath, [join(redocly, 'bin/cli.js'), ...args], {
      cwd: directory,
      env: {
        CI: 'true',
        NODE_ENV: 'production',
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      },
      timeout: 60_000,
    });
    return splitScript(await readFile(output, 'utf8'));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
