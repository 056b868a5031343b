import { catalogue, type ProblemCode } from '../../src/errors.ts';
import type { AreaContract, Operation } from './contract.ts';
import type { Guide } from './guides.ts';

/** What can be found: where it is, what it is called, and by which other words it is found. */
type Entry = {
  /** Relative to the portal's folder. */
  readonly href: string;
  readonly title: string;
  /** What kind of thing it is, shown beside the title. */
  readonly kind: string;
  readonly words: string;
};

/** The names of the fields of an example, at any depth. */
function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]);
}

function wordsOf({
  operationId,
  fullPath,
  description,
  parameters,
  requestBody,
  responses,
}: Operation): string {
  const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
  const examples = contents.flatMap((content) => Object.values(content ?? {}).map((media) => media.examples));
  const names = [
    ...parameters.map(({ name }) => name),
    ...fieldsOf(examples.map((example) => Object.values(example ?? {}).map(({ value }) => value))),
  ];
  return [operationId, fullPath, description.replaceAll(/\s+/g, ' '), ...new Set(names)].join(' ');
}

function operationEntries({ title: kind, operations }: AreaContract): Entry[] {
  return operations.map((operation) => ({
    href: operation.href,
    title: operation.summary,
    kind: `${operation.method} ${operation.path} · ${kind}`,
    words: wordsOf(operation),
  }));
}

function guideEntries({ name, title, lead, headings, html }: Guide): Entry[] {
  const href = `${name}.html`;
  const text = html.replaceAll(/<(pre|svg)[\s\S]*?<\/\1>|<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  const sections = headings.map((heading) => ({
    href: `${href}#${heading.id}`,
    title: heading.text,
    kind: title,
    words: title,
  }));
  return [{ href, title, kind: 'Guide', words: `${lead} ${text}` }, ...sections];
}

/** The script that a page loads when somebody begins to search; it sets one variable. */
export function searchIndex(contract: readonly AreaContract[], guides: readonly Guide[]): string {
  const codes = Object.keys(catalogue) as ProblemCode[]; // the keys of the constant are its type
  const entries: Entry[] = [
    { href: 'index.html', title: 'Start', kind: 'Guide', words: 'first call quickstart key curl' },
    ...contract.flatMap(operationEntries),
    ...guides.flatMap(guideEntries),
    ...codes.map((code) => ({
      href: `problems/${code}.html`,
      title: code,
      kind: `Error ${catalogue[code].status}`,
      words: `${catalogue[code].title} ${catalogue[code].detail}`,
    })),
  ];
  return `window.portalIndex = ${JSON.stringify(entries)};\n`;
}
