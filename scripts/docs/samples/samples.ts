import { placeholders } from '../../../src/http/mounts/deployment.ts';
import type { Code } from '../code-block.ts';
import type { Operation } from '../contract.ts';
import { type BodyExample, type Call, callOf } from './call.ts';

function imports({ query, body, key, idempotent, answer, status }: Call): string[] {
  return [
    ...(body === undefined && answer === undefined ? [] : ['import json']),
    ...(key ? ['import os'] : []),
    ...(status >= 400 ? ['from urllib.error import HTTPError'] : []),
    ...(query.length === 0 ? [] : ['from urllib.parse import urlencode']),
    'from urllib.request import Request, urlopen',
    ...(idempotent ? ['from uuid import uuid4'] : []),
    '',
  ];
}

function request({ method, path, query, body, key, idempotent }: Call): string[] {
  const address = `"${placeholders.baseUrl}${path}${query.length === 0 ? '' : '?'}"`;
  const headers = [
    ...(key ? ['        "x-api-key": os.environ["TALLYSTICK_KEY"],'] : []),
    ...(idempotent ? ['        "Idempotency-Key": str(uuid4()),'] : []),
    ...(body === undefined ? [] : ['        "Content-Type": "application/json",']),
  ];
  return [
    ...(query.length === 0
      ? []
      : [`query = urlencode(${literal(Object.fromEntries(query), python, '    ')})`]),
    'request = Request(',
    `    ${address}${query.length === 0 ? '' : ' + query'},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    ...(headers.length === 0 ? [] : ['    headers={', ...headers, '    },']),
    ...(body === undefined
      ? []
      : [`    data=json.dumps(${literal(body, python, '    ', '    ')}).encode(),`]),
    ')',
  ];
}

/** For Python 3.8 and later without packages; it writes the status, then the body. */
function pythonSample(call: Call): string {
  const shown = call.answer === undefined ? '' : ', json.load(response)';
  const open = ['with urlopen(request) as response:', `    print(response.status${shown})`];
  const refused = [
    'try:',
    '    urlopen(request)',
    'except HTTPError as response:',
    `    print(response.code${shown})`,
  ];
  return [...imports(call), ...request(call), ...(call.status < 400 ? open : refused)].join('\n');
}

/** For Node 18 and later with the same variables in its environment; it writes the status, then the body. */
function typescriptSample({ method, path, query, body, key, idempotent, answer }: Call): string {
  const headers = [
    ...(key ? ["    'x-api-key': process.env.TALLYSTICK_KEY ?? '',"] : []),
    ...(idempotent ? ["    'idempotency-key': crypto.randomUUID(),"] : []),
    ...(body === undefined ? [] : ["    'content-type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${literal(body, javascript, '  ', '  ')}),`]),
  ];
  const search = query.length === 0 ? '' : `?\${query}`; // text of the sample, which fills it in itself
  const address = `\`${placeholders.baseUrl}${path}${search}\``;
  const call = options.length === 0 ? [`${address});`] : [`${address}, {`, ...options, '});'];
  return [
    ...(query.length === 0
      ? []
      : [`const query = new URLSearchParams(${literal(Object.fromEntries(query), javascript, '  ')});`]),
    `const response = await fetch(${call.join('\n')}`,
    answer === undefined
      ? 'console.log(response.status);'
      : 'console.log(response.status, await response.json());',
  ].join('\n');
}

/** In single quotes the shell leaves everything alone but the single quote itself. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** For a POSIX shell with the key in the variable TALLYSTICK_KEY. */
function curlSample({ method, path, query, body, key, idempotent }: Call): string {
  const verb = method === 'GET' ? (query.length > 0 ? '-G ' : '') : `-X ${method} `;
  return [
    `curl ${verb}"${placeholders.baseUrl}${path}"`,
    ...(key ? ['-H "x-api-key: $TALLYSTICK_KEY"'] : []),
    ...(idempotent ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...query.map(([name, value]) => `-d ${name}=${encodeURIComponent(value)}`),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** How a language writes the values of JSON. */
type Dialect = {
  readonly null: string;
  readonly true: string;
  readonly false: string;
  readonly text: (text: string) => string;
  readonly key: (name: string) => string;
};

const singleQuoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

const javascript: Dialect = {
  null: 'null',
  true: 'true',
  false: 'false',
  text: singleQuoted,
  key: (name) => (/^\w+$/.test(name) ? name : singleQuoted(name)),
};

// Every JSON string is a Python string with the same meaning.
const python: Dialect = {
  null: 'None',
  true: 'True',
  false: 'False',
  text: (text) => JSON.stringify(text),
  key: (name) => JSON.stringify(name),
};

/** A JSON value as source text, its lines after the first indented by `indent`. */
function literal(value: unknown, dialect: Dialect, step: string, indent = ''): string {
  if (value === null || value === true || value === false) return dialect[`${value}`];
  if (typeof value === 'string') return dialect.text(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}${step}`;
  const parts = Array.isArray(value)
    ? value.map((item) => literal(item, dialect, step, inner))
    : Object.entries(value).map(
        ([name, item]) => `${dialect.key(name)}: ${literal(item, dialect, step, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

type Sample = Code & { readonly caption: 'curl' | 'TypeScript' | 'Python' };

/**
 * The call of an operation in every language of the portal, made from the operation's examples.
 * @param example of its body; the first that the document shows if left out
 */
export function samplesOf(operation: Operation, example?: BodyExample): Sample[] {
  const call = callOf(operation, example);
  return [
    { language: 'shell', caption: 'curl', source: curlSample(call) },
    { language: 'typescript', caption: 'TypeScript', source: typescriptSample(call) },
    { language: 'python', caption: 'Python', source: pythonSample(call) },
  ];
}
