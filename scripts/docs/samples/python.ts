import type { Call } from './call.ts';
import { literal, python } from './literal.ts';

function imports({ query, body, answer, status }: Call): string[] {
  return [
    ...(body === undefined && answer === undefined ? [] : ['import json']),
    'import os',
    ...(status >= 400 ? ['from urllib.error import HTTPError'] : []),
    ...(query.length === 0 ? [] : ['from urllib.parse import urlencode']),
    'from urllib.request import Request, urlopen',
    '',
  ];
}

function request({ method, path, query, body, key }: Call): string[] {
  const address = `os.environ["TALLYSTICK"] + "${path}${query.length === 0 ? '' : '?'}"`;
  const headers = [
    ...(key ? ['        "x-api-key": os.environ["TALLYSTICK_KEY"],'] : []),
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
