import { placeholders } from '../../../src/http/mounts/deployment.ts';
import type { Call } from './call.ts';
import { literal, python } from './literal.ts';

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
export function pythonSample(call: Call): string {
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
