import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { catalogue, type ProblemCode, problemTitles } from '../../src/base/errors.ts';
import type { AreaContract, Operation } from './contract.ts';
import type { Guide } from './guides.ts';

/** What can be found: where it is, what it is called, and by which other words it is found. */
type Entry = {
  /** Relative to the portal's folder. */
  readonly href: string;
  readonly title: string;
  /** The name in the documents of an operation or an error. */
  readonly id?: string;
  /** What kind of thing it is, shown next to the title. */
  readonly kind: string;
  readonly words: string;
  /** Its subject no longer exists, or ends soon. */
  readonly gone?: true;
  /** Makes it count less than others, which count 1. */
  readonly weight?: number;
};

/** The names of the fields of an example, at any depth. */
function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]);
}

function wordsOf({ fullPath, description, parameters, requestBody, responses }: Operation): string {
  const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
  const examples = contents.flatMap((content) => Object.values(content ?? {}).map((media) => media.examples));
  const names = [
    ...parameters.map(({ name }) => name),
    ...fieldsOf(examples.map((example) => Object.values(example ?? {}).map(({ value }) => value))),
  ];
  return [fullPath, description.replaceAll(/\s+/g, ' '), ...new Set(names)].join(' ');
}

function operationEntries({ title: kind, operations }: AreaContract): Entry[] {
  return operations.map((operation) => ({
    href: operation.href,
    title: operation.summary,
    id: operation.operationId,
    kind: `${operation.method} ${operation.path} · ${kind}`,
    words: wordsOf(operation),
    ...(operation.deprecated ? { gone: true } : {}),
  }));
}

const textOf = (html: string) =>
  html.replaceAll(/<(pre|svg)[\s\S]*?<\/\1>|<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

function guideEntries({ name, title, lead, headings, html }: Guide): Entry[] {
  const href = `${name}.html`;
  const text = textOf(html);
  // The changelog names everything that ever existed.
  const gone = name === 'changelog' ? ({ gone: true } as const) : {};
  const sections = headings.map((heading) => ({
    href: `${href}#${heading.id}`,
    title: heading.text,
    kind: title,
    words: title,
    ...gone,
  }));
  return [{ href, title, kind: 'Guide', words: `${lead} ${text}`, ...gone }, ...sections];
}

/** A page of the documentation: an entry for its beginning, for the text of each section, and for each name. */
function manualEntries({ name, title, headings, names, html }: Guide): Entry[] {
  const isForCallers = !name.includes('/');
  const kind = isForCallers ? 'Guide' : name.startsWith('operate/') ? 'Operate' : 'Internals';
  // Callers of the API search for operations and guides first.
  const weight = isForCallers ? 1 : 0.3;
  const [beginning = '', ...sections] = html.split('<h2 ');
  return [
    { href: `${name}.html`, title, kind, words: textOf(beginning), weight },
    ...headings.map(({ id, text }, index) => ({
      href: `${name}.html#${id}`,
      title: text,
      kind: `${kind} · ${title}`,
      words: textOf(`<h2 ${sections[index]}`),
      weight,
    })),
    ...names.map(({ id, text }) => ({
      href: `${name}.html#${id}`,
      title: text,
      id: text,
      kind: `${kind} · ${title}`,
      words: '',
      weight: 0.1,
    })),
  ];
}

function problemEntry(code: ProblemCode): Entry {
  const { status, detail } = catalogue[code];
  return {
    href: `problems/${code}.html`,
    title: code,
    id: code,
    kind: `Error ${status}`,
    words: `${problemTitles[status]} ${detail}`,
    // The few words of a code weigh more than the words of a sentence. A search for an error has its whole code, or
    // more.
    weight: 0.3,
    ...(status === 410 ? { gone: true } : {}),
  };
}

const groups = z.array(z.array(z.string()).min(2));

/** Groups of words that mean the same, in lower case. */
export const readSynonyms = (yaml: string): string[][] =>
  groups.parse(parse(yaml)).map((group) => group.map((word) => word.toLowerCase()));

/** MiniSearch, as a script that needs no other; its licence wants to stand in every copy. */
async function readLibrary(): Promise<string> {
  // The package exports its modules only. Next to them is the same as a classic script.
  const modules = fileURLToPath(import.meta.resolve('minisearch'));
  const file = join(dirname(modules), '../umd/index.js');
  const [text, licence] = await Promise.all(
    [file, join(dirname(file), '../../LICENSE.txt')].map((path) => readFile(path, 'utf8')),
  );
  return `/*\nMiniSearch\n\n${licence}*/\n${text?.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')}`;
}

type Searched = {
  readonly contract: readonly AreaContract[];
  readonly guides: readonly Guide[];
  readonly manual: readonly Guide[];
  readonly synonyms: readonly (readonly string[])[];
};

/** The script that a page loads when somebody begins to search: the library, and a variable with what it finds. */
export async function searchIndex({ contract, guides, manual, synonyms }: Searched): Promise<string> {
  const codes = Object.keys(catalogue) as ProblemCode[]; // the keys of the constant are its type
  const entries: Entry[] = [
    { href: 'index.html', title: 'Start', kind: 'Guide', words: 'first call quickstart key curl' },
    ...contract.flatMap(operationEntries),
    ...guides.flatMap(guideEntries),
    ...manual.flatMap(manualEntries),
    ...codes.map(problemEntry),
  ];
  return `${await readLibrary()}window.portalIndex = ${JSON.stringify({ entries, synonyms })};\n`;
}
