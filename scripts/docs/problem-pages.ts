import { catalogue, type ProblemCode } from '../../src/errors.ts';
import { codeBlock, jsonText } from './code-block.ts';
import type { AreaContract, Operation } from './contract.ts';
import type { Layout } from './layout.ts';
import { escapeHtml, prose, withPlaceholders } from './markup.ts';
import type { ProblemText } from './problem-texts.ts';

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
  const { title, status, detail } = catalogue[code];
  return {
    type: `/docs/problems/${code}`,
    title,
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
  const { status, title, detail } = catalogue[code];
  const uses = usesOf(contract, code);
  const body = `      <article class="problem">
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
        ${codeBlock('json', jsonText(uses[0]?.example ?? exampleOf(code)), 'application/problem+json')}
        <h2>Where it occurs</h2>
        ${places(uses)}
      </article>`;
  return layout.page({
    title: `${code} · Tallystick API`,
    description: `${status} ${title}: cause and remedy of the problem ${code}.`,
    current: 'problems.html',
    depth: 1,
    body,
  });
}

/** All codes in the order of their status, which is that of the catalogue where they share one. */
export function problemIndex(codes: readonly ProblemCode[], layout: Layout): string {
  const rows = codes
    .toSorted((a, b) => catalogue[a].status - catalogue[b].status)
    .map((code) => {
      const { status, detail } = catalogue[code];
      return `<tr><td class="short">${status}</td><th scope="row"><a href="problems/${code}.html"><code>${code}</code></a></th><td>${withPlaceholders(detail)}</td></tr>`;
    });
  const body = `      <article class="problem">
        <h1>Errors</h1>
        <p class="lead">Every error is <code>application/problem+json</code> (RFC 9457). Branch on <code>code</code>, which never changes its meaning; show <code>detail</code> to a person; quote <code>requestId</code> when you ask for help. <code>type</code> is the address of one of these pages.</p>
        ${codeBlock('json', jsonText(exampleOf('event_not_found')), '<span>404 · application/problem+json</span>')}
        <table class="stack">
          <thead><tr><th>Status</th><th>Code</th><th>Detail</th></tr></thead>
          <tbody>${rows.join('\n')}</tbody>
        </table>
      </article>`;
  const description = 'Every error of the Tallystick API, with status, code and message.';
  return layout.page({ title: 'Errors · Tallystick API', description, current: 'problems.html', body });
}
