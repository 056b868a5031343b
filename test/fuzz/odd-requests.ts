import fc, { type Arbitrary } from 'fast-check';
import { areas, basePaths } from '../../src/contract/documents.ts';
import { documentedOperations } from '../contract/documented.ts';
import type { SentRequest } from '../contract/sender.ts';

const visible = (maxLength: number) =>
  fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength,
  });

const pathPieces = fc.oneof(
  fc.constantFrom(
    'event',
    'rwa',
    'nft',
    'mint',
    'nfts',
    'attendees',
    'claim',
    'metadata',
    'token',
    'balance',
  ),
  fc.constantFrom(
    '',
    '.',
    '..',
    '%2e%2e',
    '%2F',
    '%00',
    '%zz',
    '%C0%AF',
    '%ED%A0%80',
    '%F4%90%80%80',
    ';',
    '__proto__',
  ),
  fc.uuid(),
  visible(10).map((text) => text.replaceAll(/[?#]/g, '')),
);

const queries = fc.oneof(
  fc.constant(''),
  visible(30).map((text) => `?${text.replaceAll('#', '')}`),
  fc.constantFrom(
    '?',
    '??',
    '?&&',
    '?=',
    '?%',
    '?%00=1',
    '?a=1&a=1',
    '?limit[]=1',
    '?__proto__=1',
    '?limit=%C0%80',
  ),
);

const headerNames = [
  ...['accept', 'accept-encoding', 'accept-language', 'accept-charset', 'range', 'if-none-match', 'if-match'],
  ...[
    'if-modified-since',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-http-method-override',
    'x-method-override',
  ],
  ...['content-type', 'content-encoding', 'origin', 'cookie', 'authorization', 'prefer', 'x-request-id'],
  ...[
    'idempotency-key',
    'traceparent',
    'te',
    'via',
    'forwarded',
    'access-control-request-method',
    '__proto__',
  ],
];

const headerValues = fc.oneof(
  visible(40),
  fc.constantFrom(
    '*/*',
    'text/html',
    'application/xml;q=0.9',
    '*/*;q=0',
    'gzip, br;q=0',
    'identity;q=0',
    'DELETE',
  ),
  fc.constantFrom(
    'bytes=0-1',
    '"',
    'W/"x"',
    '\u00ff\u00fe',
    'application/json',
    'gzip',
    'deflate',
    'br',
    'null',
  ),
  fc.constantFrom('x'.repeat(4_000), '{{7*7}}', "' OR 1=1 --", '../../etc/passwd'),
);

const bodies = fc.oneof(
  fc.constant(undefined),
  fc.json({ maxDepth: 5 }),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

const methods = fc.constantFrom(
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
);

/** Requests that nobody should send: any method, path, header and body below the base paths. */
export function oddRequests(key: string): Arbitrary<SentRequest> {
  return fc
    .record({
      area: fc.constantFrom(...areas),
      method: methods,
      pieces: fc.array(pathPieces, { maxLength: 4 }),
      query: queries,
      headers: fc.dictionary(fc.constantFrom(...headerNames), headerValues, {
        maxKeys: 4,
        noNullPrototype: true,
      }),
      withKey: fc.boolean(),
      body: bodies,
    })
    .map(({ area, method, pieces, query, headers, withKey, body }) => ({
      area,
      method,
      path: `${[basePaths[area], ...pieces].join('/')}${query}`,
      headers: { ...headers, ...(withKey && { 'x-api-key': key }) },
      // A body for HEAD or TRACE is not sent by Node.
      body: method === 'HEAD' || method === 'TRACE' ? undefined : body,
    }));
}

/** Keys that nobody has, made from one that somebody has. */
export function wrongKeys(key: string): Arbitrary<string | readonly string[] | undefined> {
  const cut = fc.nat(key.length - 1).map((at) => key.slice(0, at));
  const altered = fc
    .nat(key.length - 1)
    .map((at) => key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1));
  return fc
    .oneof(
      fc.constantFrom<string | readonly string[] | undefined>(
        undefined,
        '',
        [key, key],
        ['', key],
        'x'.repeat(600),
      ),
      fc.constantFrom(
        key.toUpperCase(),
        key.toLowerCase(),
        `Bearer ${key}`,
        `${key},${key}`,
        `${key}=`,
        `"${key}"`,
      ),
      cut,
      altered,
      visible(60),
    )
    .filter((wrong) => wrong !== key);
}

const everyMethod = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

/** Methods that a path does not have. */
export function otherMethods(template: string): Arbitrary<string> {
  const own = documentedOperations
    .filter((each) => each.template === template)
    .map(({ method }): string => method);
  // What can be read answers HEAD, too, which no document lists.
  if (own.includes('get')) own.push('head');
  return fc.constantFrom(...everyMethod.filter((method) => !own.includes(method)));
}
