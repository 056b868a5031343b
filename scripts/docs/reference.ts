import { STATUS_CODES } from 'node:http';
import { placeholders } from '../../src/http/mounts/deployment.ts';
import { callPanel } from './call-panel.ts';
import { codeBlock, jsonText } from './code-block.ts';
import { type AreaContract, type Operation, type Response, slug } from './contract.ts';
import { documentForms } from './documents.ts';
import { aroundNav, type Layout, neighboursAt } from './layout.ts';
import { prose } from './markdown.ts';
import { escapeHtml } from './markup.ts';
import { callOf } from './samples/call.ts';
import { createFieldList, type FieldList } from './schema.ts';

/** Where an operation stands on the page of its area. */
const routeOf = ({ href }: Operation) => href.slice(href.indexOf('#') + 1);

const part = (title: string, content: string) => (content === '' ? '' : `<h4>${title}</h4>${content}`);

const mark = ({ deprecated }: Operation) => (deprecated ? ' <span class="tag">deprecated</span>' : '');

function request({ parameters, requestBody }: Operation, show: FieldList): string {
  const inPlace = (place: string) =>
    show.fields(
      parameters.filter((parameter) => parameter.in === place),
      'request',
    );
  const body = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    part(
      `Body <span>${type}${requestBody?.required ? ', required' : ''}</span>`,
      prose(requestBody?.description ?? '', '') + show.body(schema, 'request'),
    ),
  );
  return [
    part('In the path', inPlace('path')),
    part('In the query', inPlace('query')),
    ...body,
    part('Headers', inPlace('header')),
  ].join('\n');
}

/** The errors that an answer may be, each with the way to its page. */
function problems({ content = {} }: Response): string {
  const found = Object.values(content).flatMap(({ examples = {} }) =>
    Object.values(examples).flatMap(({ value }) =>
      value !== null && typeof value === 'object' && 'code' in value && 'detail' in value
        ? [[String(value.code), String(value.detail)] as const]
        : [],
    ),
  );
  // One for each code: its page has all of its texts.
  const items = [...new Map(found.toReversed())]
    .toReversed()
    .map(
      ([code, detail]) =>
        `<li><a href="problems/${code}.html"><code>${code}</code></a> ${escapeHtml(detail)}</li>`,
    );
  return items.length === 0 ? '' : `<ul class="plain">${items.join('\n')}</ul>`;
}

function example({ content = {} }: Response): string {
  const [first] = Object.values(content).flatMap(({ examples = {} }) => Object.values(examples));
  if (first === undefined) return '';
  return codeBlock({
    language: 'json',
    source: jsonText(first.value),
    caption: escapeHtml(first.summary ?? 'Example'),
  });
}

function headers({ headers: all = {} }: Response, show: FieldList): string {
  const fields = Object.entries(all).map(([name, { examples = {}, ...header }]) => ({
    name,
    example: Object.values(examples)[0]?.value,
    required: false,
    ...header,
  }));
  const names = fields.map(({ name }) => `<code>${name}</code>`).join(', ');
  return fields.length === 0
    ? ''
    : `<details><summary>Headers: ${names}</summary>${show.fields(fields, 'answer')}</details>`;
}

function answer(status: string, response: Response, open: boolean, show: FieldList): string {
  const fails = Number(status) >= 400;
  const body = Object.entries(response.content ?? {}).map(([type, { schema }]) =>
    part(`Body <span>${type}</span>`, show.body(schema, 'answer')),
  );
  const summary = `<summary><b class="${fails ? 'bad' : 'ok'}">${status}</b> ${STATUS_CODES[status] ?? ''}</summary>`;
  const text = `<div>${prose(response.description, '')}${fails ? problems(response) : body.join('')}${headers(response, show)}</div>`;
  return `<details class="answer"${open ? ' open' : ''}>${summary}<div class="halves">${text}${fails ? '' : `<div>${example(response)}</div>`}</div></details>`;
}

function answers(operation: Operation, show: FieldList): string {
  const { status: main } = callOf(operation);
  const items = Object.entries(operation.responses).map(([status, response]) =>
    answer(status, response, Number(status) === main, show),
  );
  return `<h4>Answers</h4>
<p>Errors are <a href="problems.html">problems with a code</a>.</p>
${items.join('\n')}`;
}

function keyText({ 'x-required-scope': scope }: Operation): string {
  if (scope === undefined) return 'It needs no key.';
  const key = 'It needs <a href="authentication.html">your key</a> in the header <code>x-api-key</code>';
  if (scope === 'none') return `${key}, with any scopes.`;
  const scopes = [scope].flat().map((name) => `<code>${escapeHtml(name)}</code>`);
  return `${key}, with the <a href="authentication.html#scopes">scope</a> ${scopes.join(' or ')}.`;
}

function operationPart(
  operation: Operation,
  around: string,
  { area, title }: AreaContract,
  show: FieldList,
): string {
  const { summary, description } = operation;
  const route = routeOf(operation);
  return `<section class="operation" id="${route}" data-title="${escapeHtml(`${summary} · Tallystick ${title}`)}">
<div class="about"><h3><a class="anchor" href="${area}.html#${route}">${escapeHtml(summary)}</a>${mark(operation)}</h3>
${prose(description, '')}
<p class="base">${keyText(operation)}</p></div>
<div class="aside">${callPanel(operation)}</div>
<div class="request">${request(operation, show)}</div>
<div class="answers">${answers(operation, show)}</div>
${around}
</section>`;
}

function intro({ area, title, version, summary, description, basePath }: AreaContract): string {
  const forms = documentForms(area).map(({ title: form, file }) => `<a href="${file}">${form}</a>`);
  return `<h1>Tallystick ${escapeHtml(title)}</h1>
<p>${escapeHtml(summary)}</p>
${prose(description, '')}
<table class="facts stack"><tbody>
<tr><th scope="row">Address</th><td><code>${placeholders.baseUrl}${basePath}</code></td></tr>
<tr><th scope="row">Version</th><td>${version}</td></tr>
<tr><th scope="row">Document</th><td>${forms.join(' · ')}</td></tr>
<tr><th scope="row">Other view</th><td><a href="redoc/${area}.html">Redoc</a></td></tr>
</tbody></table>`;
}

/** The page of an area with all of its operations, which needs no script to be read. */
export function referencePage(contract: AreaContract, layout: Layout): string {
  const { area, title, summary, tags, operations, schemas } = contract;
  const show = createFieldList(schemas);
  const groups = tags.map((tag) => ({
    tag,
    route: `/${slug(tag.name)}`,
    own: operations.filter((operation) => operation.tags[0] === tag.name),
  }));
  const order = groups.flatMap(({ own }) => own);
  const placeOf = (operation: Operation) => ({ href: `#${routeOf(operation)}`, label: operation.summary });
  const aroundOf = (operation: Operation) =>
    aroundNav(
      neighboursAt(order, order.indexOf(operation), placeOf),
      `Before and after: ${operation.summary}`,
    );
  const sections = groups.map(
    ({ tag, route, own }) => `<div class="group" id="${route}"><h2>${escapeHtml(tag.name)}</h2>
${prose(tag.description, '')}</div>
${own.map((operation) => operationPart(operation, aroundOf(operation), contract, show)).join('\n')}`,
  );
  return layout.reference({
    title: `Tallystick ${title}`,
    description: summary,
    current: `${area}.html`,
    groups: groups.map(({ tag, own }) => ({
      title: tag.name,
      items: own.map((operation) => ({
        ...placeOf(operation),
        html: `<span class="verb ${operation.method.toLowerCase()}">${operation.method}</span>`,
      })),
    })),
    body: `${intro(contract)}\n${sections.join('\n')}`,
  });
}
