import { placeholders } from '../../../src/http/mounts/deployment.ts';
import type { Call } from './call.ts';
import { javascript, literal } from './literal.ts';

/** For Node 18 and later with the same variables in its environment; it writes the status, then the body. */
export function typescriptSample({ method, path, query, body, key, idempotent, answer }: Call): string {
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
