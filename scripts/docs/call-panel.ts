import { placeholders } from '../../src/http/mounts/deployment.ts';
import { codeTabs, jsonText } from './code-block.ts';
import type { Operation } from './contract.ts';
import { escapeHtml } from './markup.ts';
import { bodiesOf } from './samples/call.ts';
import { samplesOf } from './samples/samples.ts';

type Parameter = Operation['parameters'][number];

const field = (id: string, label: string, control: string, about = '') =>
  `<div class="field"><label for="${id}"><code>${escapeHtml(label)}</code>${about === '' ? '' : ` <span>${about}</span>`}</label>${control}</div>`;

// We decide what a form remembers: browsers keep keys and ids no better than we do.
const untouched = 'autocomplete="off" autocapitalize="off" spellcheck="false"';

function control(parameter: Parameter, id: string): string {
  const { in: place, name, required, example, choices = [] } = parameter;
  const common = `id="${id}" data-in="${place}" data-name="${escapeHtml(name)}"`;
  const value = escapeHtml(String(example));
  if (choices.length > 0) {
    const options = choices.map((choice) => `<option>${escapeHtml(choice)}</option>`);
    return `<select ${common}><option value="">not sent</option>${options.join('')}</select>`;
  }
  const filled = required ? `value="${value}"` : `placeholder="${value}"`;
  // Without a part of its path a call would be another call. Anything else may be left out, to see the answer.
  return `<input type="text" ${common} ${filled}${place === 'path' ? ' required' : ''} ${untouched}>`;
}

function parameterFields({ operationId, parameters }: Operation): string {
  const fields = (wanted: readonly Parameter[]) =>
    wanted
      .map((parameter) => {
        const id = `${operationId}-${parameter.name}`;
        const about = parameter.required ? `${parameter.in}, required` : parameter.in;
        return field(id, parameter.name, control(parameter, id), about);
      })
      .join('');
  const optional = parameters.filter(({ required }) => !required);
  const shown = fields(parameters.filter(({ required }) => required));
  if (optional.length === 0) return shown;
  const open = optional.length < 3 ? ' open' : '';
  return `${shown}<details${open}><summary>Optional parameters (${optional.length})</summary>${fields(optional)}</details>`;
}

function keyField({ operationId, security }: Operation): string {
  if (security?.length === 0) return '';
  const id = `${operationId}-x-api-key`;
  const input = `<input type="password" id="${id}" data-key data-sample-key="${placeholders.sampleKey}" ${untouched}>`;
  const note = '<small>Kept in this tab only, and sent to this service only.</small>';
  return field(id, 'x-api-key', `${input}${note}`, 'header, your key');
}

function bodyField(operation: Operation): string {
  const [first] = bodiesOf(operation);
  if (first === undefined) return '';
  const id = `${operation.operationId}-body`;
  const text = jsonText(first.value);
  const rows = Math.min(16, text.split('\n').length + 1);
  const area = `<textarea id="${id}" data-body rows="${rows}" ${untouched}>${escapeHtml(text)}</textarea>`;
  return field(id, 'Body', area, 'application/json');
}

/** The form that sends a call. A script fills in the key and the answers of earlier calls, and sends it. */
function tryForm(operation: Operation): string {
  const { operationId, summary } = operation;
  const label = `Try it: ${escapeHtml(summary)}`;
  return `<button type="button" class="try" hidden aria-expanded="false" aria-controls="${operationId}-try" aria-label="${label}">Try it</button>
<form id="${operationId}-try" aria-label="${label}" hidden>${keyField(operation)}${parameterFields(operation)}${bodyField(operation)}<button type="submit" class="send">Send</button><div class="outcome"></div></form>`;
}

function exampleChoice(operation: Operation): string {
  const bodies = bodiesOf(operation);
  if (bodies.length < 2) return '';
  const id = `${operation.operationId}-example`;
  const options = bodies.map(
    ({ name, label, value }) =>
      `<option value="${name}" data-text="${escapeHtml(jsonText(value))}">${escapeHtml(label)}</option>`,
  );
  return `<div class="field" hidden><label for="${id}">Example</label><select id="${id}" data-example>${options.join('')}</select></div>`;
}

function samples(operation: Operation): string {
  const bodies = bodiesOf(operation);
  const examples = bodies.length === 0 ? [undefined] : bodies;
  const groups = examples.map((example, index) => {
    const codes = samplesOf(operation, example);
    return `<div data-sample="${example?.name ?? ''}"${index === 0 ? '' : ' hidden'}>${codeTabs(codes)}</div>`;
  });
  return groups.join('');
}

/** The samples of an operation, and the form that sends it. A script shows what does nothing without one. */
export function callPanel(operation: Operation): string {
  const { method, fullPath, summary, security } = operation;
  const facts = `data-method="${method}" data-path="${escapeHtml(fullPath)}"${security?.length === 0 ? '' : ' data-keyed'}`;
  const line = `<p class="line"><span class="verb ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(fullPath)}</code></p>`;
  return `<section class="call" aria-label="Call: ${escapeHtml(summary)}" ${facts}>${line}${exampleChoice(operation)}${samples(operation)}${tryForm(operation)}</section>`;
}
