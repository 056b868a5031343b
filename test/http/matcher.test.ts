import fc from 'fast-check';
import { OpenAPIBackend } from 'openapi-backend';
import { describe, expect, test } from 'vitest';
import { documents } from '../../src/contract/documents.ts';
import { compileMatcher } from '../../src/http/dispatch/matcher.ts';
import { compilePathReader } from '../../src/http/input/path-template.ts';

type Backend = InstanceType<typeof OpenAPIBackend>;
type Definition = ConstructorParameters<typeof OpenAPIBackend>[0]['definition'];

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

async function backendOf(definition: unknown): Promise<Backend> {
  const api = new OpenAPIBackend({
    definition: definition as Definition, // made here, with what routing looks at
    quick: true,
    validate: false,
    ignoreTrailingSlashes: false,
  });
  return api.init();
}

/**
 * What the library's own router says, in the words of ours. The one thing that it does not know: by the
 * standard, a path without templates is never a case of one with them, whatever the method.
 */
function askOriginal(api: Backend, method: string, path: string) {
  const ask = (tried: string): string => {
    try {
      return api.router.matchOperation({ method: tried, path, headers: {} }, true).operationId ?? '';
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 3) : '';
    }
  };
  const own = api.getOperations().filter((item) => item.path === path && !path.includes('{'));
  if (own.length > 0 && !own.some((item) => item.method === method)) {
    const allow = methods.filter((tried) => own.some((item) => item.method === tried));
    return { kind: 'wrong-method', allow: allow.map((name) => name.toUpperCase()) };
  }
  const answer = ask(method);
  if (answer === '404') return { kind: 'none' };
  if (answer !== '405') return { kind: 'found', operationId: answer };
  const allow = methods.filter((tried) => !['404', '405'].includes(ask(tried)));
  return { kind: 'wrong-method', allow: allow.map((name) => name.toUpperCase()) };
}

/** What ours says of a method and a path. */
function compileOurs(api: Backend) {
  const match = compileMatcher(api.getOperations());
  return (method: string, path: string) => {
    const found = match(method, path);
    return found.kind === 'found'
      ? { kind: 'found', operationId: Reflect.get(found.operation, 'operationId') }
      : found;
  };
}

// Few pieces, so that templates overlap and paths meet several; among them what means something in an
// expression.
const literal = fc.constantFrom('a', 'b', '.+', 'ab');
const segment = fc.oneof(literal, fc.constantFrom('{x}', '{y}', '{z}b', 'a{z}', '{x}.{y}'));
const template = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
const paths = fc.dictionary(
  template,
  fc.uniqueArray(fc.constantFrom('get', 'put', 'post'), { minLength: 1, maxLength: 2 }),
  { minKeys: 1, maxKeys: 12, noNullPrototype: true },
);
const value = fc.constantFrom('a', 'b', 'ab', 'a.b', '', '%zz', '%2F', 'A', '{x}');
/** Paths made from the templates, some filled in, some as they are written, and some of nobody. */
const pathsOf = (templates: readonly string[]) =>
  fc.array(
    fc
      .tuple(
        fc.constantFrom(...templates, '/c', ''),
        value,
        fc.constantFrom('', '', '', '/', '/a'),
        fc.boolean(),
      )
      .map(([from, text, rest, filled]) => `${filled ? from.replaceAll(/\{[^}]+\}/g, text) : from}${rest}`),
    { minLength: 1, maxLength: 10 },
  );
const cases = paths.chain((chosen) =>
  fc.tuple(fc.constant(chosen), pathsOf(Object.keys(chosen)), fc.constantFrom('get', 'put', 'post', 'head')),
);

function documentOf(chosen: Record<string, string[]>) {
  const entries = Object.entries(chosen).map(([path, names]) => [
    path,
    Object.fromEntries(names.map((name) => [name, { operationId: `${name} ${path}`, responses: {} }])),
  ]);
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: Object.fromEntries(entries) };
}

describe('the compiled matcher', () => {
  test('never takes a path without templates for a case of one with them', async () => {
    const ours = compileOurs(await backendOf(documentOf({ '/nft/{id}': ['get'], '/nft/claim': ['post'] })));
    expect(ours('get', '/nft/claim')).toEqual({ kind: 'wrong-method', allow: ['POST'] });
    expect(ours('get', '/nft/claims')).toEqual({ kind: 'found', operationId: 'get /nft/{id}' });
  });

  test('answers every path and method like the library, Allow included', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ([chosen, requests, method]) => {
        const api = await backendOf(documentOf(chosen));
        const ours = compileOurs(api);
        for (const path of requests) expect(ours(method, path)).toEqual(askOriginal(api, method, path));
      }),
      { numRuns: 500 },
    );
  });

  test.each(Object.entries(documents))(
    'answers like the library on the document %s',
    async (_area, document) => {
      const api = await backendOf(document);
      const ours = compileOurs(api);
      const templates = Object.keys(document.paths);
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...templates, '/nothing', '/', ''),
          fc.constantFrom('x', 'claim', '', '%2F', '{id}'),
          fc.constantFrom('', '/', '/more'),
          fc.constantFrom(...methods),
          async (from, value, rest, method) => {
            const path = `${from.replaceAll(/\{[^}]+\}/g, value)}${rest}`;
            expect(ours(method, path)).toEqual(askOriginal(api, method, path));
          },
        ),
        { numRuns: 500 },
      );
    },
  );
});

describe('the compiled path reader', () => {
  test('takes the values as they stand in the path, still encoded', () => {
    const read = compilePathReader('/event/{eventId}/attendees/{attendeeId}');
    expect([...read('/event/a%2Fb/attendees/%zz')]).toEqual([
      ['eventId', 'a%2Fb'],
      ['attendeeId', '%zz'],
    ]);
  });

  test('gives empty values for a path of another form', () => {
    expect([...compilePathReader('/event/{eventId}')('/other')]).toEqual([['eventId', '']]);
  });
});
