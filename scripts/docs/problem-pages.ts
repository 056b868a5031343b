import { parse } from 'yaml';
import { z } from 'zod';
import { catalogue, type ProblemCode, problemTitles } from '../../src/base/errors.ts';
import { codeBlock, jsonText } from './code-block.ts';
import type { AreaContract, Operation } from './contract.ts';
import { type Layout, neighboursAt } from './layout.ts';
import { prose } from './markdown.ts';
import { escapeHtml, withPlaceholders } from './markup.ts';

type Use = { readonly operation: Operation; readonly title: string; readonly example: unknown };

const hasCode = (value: unknown, code: string) =>
  typeof value === 'object' && value !== null && 'code' in value && value.code === code;

/** The operations that document a code, each with its example of it. */
function usesOf(contract: readonly AreaContract[], code: ProblemCode): Use[] {
  return contract.flatMap(({ title, operations }) =>
    operations.flatMap((operation) => {
      const response = operation.responses[catalogue[code].status];
      const examples = Object.values(response?.content ?? {}).flatMap((media) =>
        Object.values(media.examples ?? {}),
      );
      const example = examples.find(({ value }) => hasCode(value, code))?.value;
      return example === undefined ? [] : [{ operation, title, example }];
    }),
  );
}

function exampleOf(code: ProblemCode): unknown {
  const { status, detail } = catalogue[code];
  return {
    type: `/docs/problems/${code}`,
    title: problemTitles[status],
    status,
    detail,
    code,
    requestId: '0f9c1c9e-6a2b-4f0e-9d57-0c9f5d3a7b11',
  };
}

function places(uses: readonly Use[]): string {
  if (uses.length === 0) return '<p>On any path: it comes before an operation has been found.</p>';
  const items = uses.map(({ operation: { href, method, path, summary }, title }) => {
    const call = `<a href="../${href}"><code>${method} ${escapeHtml(path)}</code></a>`;
    return `<li>${call} ${escapeHtml(summary)} <span class="base">${escapeHtml(title)}</span></li>`;
  });
  const list = `<ul class="plain">${items.join('\n')}</ul>`;
  return items.length > 6 ? `<details><summary>${items.length} operations</summary>${list}</details>` : list;
}

/** All codes in the order of their status. Codes of one status are in the order of the catalogue. */
export const codesByStatus: readonly ProblemCode[] = (Object.keys(catalogue) as ProblemCode[]) // the keys of the constant are its type
  .toSorted((a, b) => catalogue[a].status - catalogue[b].status);

const repeatable = (code: ProblemCode) =>
  'retryable' in catalogue[code]
    ? 'Yes: it may succeed later'
    : 'No: the answer stays the same until something is changed';

/** The page to which the `type` of a problem leads: what happened, and what to do about it. */
export function problemPage(
  code: ProblemCode,
  text: ProblemText,
  contract: readonly AreaContract[],
  layout: Layout,
): string {
  const { status, detail } = catalogue[code];
  const title = problemTitles[status];
  const uses = usesOf(contract, code);
  const example = codeBlock({
    language: 'json',
    source: jsonText(uses[0]?.example ?? exampleOf(code)),
    caption: 'application/problem+json',
  });
  const body = `
        <p class="trail"><a href="../problems.html">Errors</a> / <code>${code}</code></p>
        <h1>${withPlaceholders(detail)}</h1>
        <table class="facts">
          <tbody>
            <tr><th scope="row">Code</th><td><code>${code}</code></td></tr>
            <tr><th scope="row">Status</th><td>${status} ${title}</td></tr>
            <tr><th scope="row">Repeat unchanged</th><td>${repeatable(code)}</td></tr>
          </tbody>
        </table>
        <h2>Cause</h2>
        ${prose(text.cause, '../')}
        <h2>What to do</h2>
        ${prose(text.remedy, '../')}
        <h2>Example</h2>
        ${example}
        <h2>Where it occurs</h2>
        ${places(uses)}
      `;
  return layout.guide({
    title: `${code} · Tallystick API`,
    description: `${status} ${title}: cause and remedy of the problem ${code}.`,
    current: 'problems.html',
    depth: 1,
    neighbours: neighboursAt(codesByStatus, codesByStatus.indexOf(code), (other) => ({
      href: `${other}.html`,
      label: other,
    })),
    body,
  });
}

const text = z.string().trim().min(1);
const texts = z.record(z.string(), z.strictObject({ cause: text, remedy: text }));

type ProblemText = z.infer<typeof texts>[string];

/** Cause and remedy by code. Fails unless there is exactly one text for each code of the catalogue. */
export function readProblemTexts(yaml: string): Map<ProblemCode, ProblemText> {
  const read = texts.parse(parse(yaml));
  const codes = Object.keys(catalogue) as ProblemCode[]; // the keys of the constant are its type
  const surplus = Object.keys(read).filter((code) => !(code in catalogue));
  if (surplus.length > 0) throw new Error(`Texts for unknown problem codes: ${surplus.join(', ')}`);
  const missing = codes.filter((code) => !(code in read));
  if (missing.length > 0) throw new Error(`Problem codes without a text: ${missing.join(', ')}`);
  return new Map(codes.flatMap((code) => (read[code] === undefined ? [] : [[code, read[code]]])));
}
