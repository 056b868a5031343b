import { catalogue } from '../../src/base/errors.ts';
import { codeBlock, codeTabs, jsonText } from './code-block.ts';
import { type AreaContract, findOperation } from './contract.ts';
import { documentTable } from './documents.ts';
import type { Language } from './highlight.ts';
import type { Layout } from './layout.ts';
import { type Inserts, type Rendered, type RenderOptions, renderMarkdown } from './markdown.ts';
import { withPlaceholders } from './markup.ts';
import { codesByStatus } from './problem-pages.ts';
import { callOf } from './samples/call.ts';
import { samplesOf } from './samples/samples.ts';

/** What guides can show; programs by the name of their file. */
export type GuideParts = {
  readonly contract: readonly AreaContract[];
  readonly programs: ReadonlyMap<string, string>;
  /** How clients send null, as HTML. */
  readonly nulls: string;
  /** The first lines of programs with the packages of clients. */
  readonly packages: string;
};

export type Guide = Rendered & {
  /** Path of the page in the portal, without `.html`. */
  readonly name: string;
  readonly title: string;
};

const programLanguages: readonly (readonly [ending: string, language: Language, label: string])[] = [
  ['sh', 'shell', 'Shell'],
  ['ts', 'typescript', 'TypeScript'],
  ['py', 'python', 'Python'],
];

function part(parts: ReadonlyMap<string, string>, name: string): string {
  const found = parts.get(name);
  if (found === undefined) throw new Error(`openapi/portal has no ${name}`);
  return found.trim();
}

function problemTable(): string {
  const rows = codesByStatus.map((code) => {
    const { status, detail } = catalogue[code];
    return `<tr><td class="short">${status}</td><th scope="row"><a href="problems/${code}.html"><code>${code}</code></a></th><td>${withPlaceholders(detail)}</td></tr>`;
  });
  return `<table class="stack"><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Detail</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

/**
 * The parts that a page may insert with `{{name argument}}`. All parts come from the documents or from files that tests
 * run.
 */
export function guideInserts({ contract, programs, nulls, packages }: GuideParts): Inserts {
  return {
    sample: (operationId) => codeTabs(samplesOf(findOperation(contract, operationId))),
    answer: (operationId) => {
      const { status, answer } = callOf(findOperation(contract, operationId));
      const caption = `<span>Answer <span class="ok">${status}</span></span>`;
      return codeBlock({ language: 'json', source: jsonText(answer), caption });
    },
    program: (name) =>
      codeTabs(
        programLanguages
          .filter(([ending]) => programs.has(`${name}.${ending}`))
          .map(([ending, language, caption]) => ({
            language,
            caption,
            source: part(programs, `${name}.${ending}`),
          })),
      ),
    nulls: () => nulls,
    packages: () => packages,
    problems: problemTable,
    documents: () => documentTable(contract),
  };
}

/** @throws Error when the text has no title or no paragraph */
export function readGuide(name: string, text: string, options: RenderOptions): Guide {
  const [, title] = /^# (.+)\n/.exec(text) ?? [];
  const rendered = renderMarkdown(text, options);
  if (title === undefined || rendered.lead === '')
    throw new Error(`${name}: a page begins with a title and has a paragraph`);
  return { name, title, ...rendered };
}

export function guidePage({ name, title, lead, html, headings }: Guide, layout: Layout): string {
  return layout.guide({
    title: `${title} · Tallystick API`,
    description: lead,
    current: `${name}.html`,
    headings,
    body: html,
  });
}
