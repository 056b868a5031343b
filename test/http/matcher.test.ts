import fc from 'fast-check';
import { OpenAPIBackend } from 'openapi-backend';
import { describe, expect, test } from 'vitest';
import { documents } from '../../src/contract/documents.ts';
import { compileMatcher, compilePathReader } from '../../src/http/matcher.ts';

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

/** What the library's own router says, in the words of ours. */
function askOriginal(api: Backend, method: string, path: string) {
  const ask = (tried: string): string => {
    try {
      return api.router.matchOperation({ method: tried, path, headers: {} }, true).operationId ?? '';
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 3) : '';
    }
  };
  const answer = ask(method);
  if (answer === '404') return { kind: 'none' };
  if (answer !== '405') return { kind: 'found', operationId: answer };
  const allow = methods.filter((tried) => !['404', '405'].includes(ask(tried)));
  return { kind: 'wrong-method', allow: allow.map((name) => name.toUpperCase()) };
}

function askOurs(api: Backend, method: string, path: string) {
  const found = compileMatcher(api.getOperations())(method, path);
  return found.kind === 'found'
    ? { kind: 'found', operationId: Reflect.get(found.operation, 'operationId') }
    : found;
}

// Few letters, so that templates and paths meet often; among them what means something in an expression.
const literal = fc.stringMatching(/^[ab.+$]{1,2}$/);
const segment = fc.oneof(
  literal,
  fc.constantFrom('{x}', '{y}'),
  fc.tuple(fc.constantFrom('', 'a', '.'), fc.constantFrom('', 'b', '.a')).map(([a, b]) => `${a}{z}${b}`),
);
const template = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
const paths = fc.dictionary(
  template,
  fc.uniqueArray(fc.constantFrom(...methods), { minLength: 1, maxLength: 3 }),
  { maxKeys: 8, noNullPrototype: true },
);
const asked = fc.oneof(
  template,
  fc
    .array(fc.oneof(literal, fc.constantFrom('', '{x}', '%zz', '%2F', 'aab', 'A')), { maxLength: 5 })
    .map((parts) => `/${parts.join('/')}`),
);

function documentOf(chosen: Record<string, string[]>) {
  const entries = Object.entries(chosen).map(([path, names]) => [
    path,
    Object.fromEntries(names.map((name) => [name, { operationId: `${name} ${path}`, responses: {} }])),
  ]);
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: Object.fromEntries(entries) };
}

describe('the compiled matcher', () => {
  test('answers every path and method like the library, Allow included', async () => {
    await fc.assert(
      fc.asyncProperty(
        paths,
        fc.array(asked, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...methods),
        async (chosen, requests, method) => {
          const api = await backendOf(documentOf(chosen));
          for (const path of requests) {
            expect(askOurs(api, method, path)).toEqual(askOriginal(api, method, path));
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each(Object.entries(documents))(
    'answers like the library on the document %s',
    async (_area, document) => {
      const api = await backendOf(document);
      const templates = Object.keys(document.paths);
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...templates, '/nothing', '/', ''),
          fc.constantFrom('x', 'claim', '', '%2F', '{id}'),
          fc.constantFrom('', '/', '/more'),
          fc.constantFrom(...methods),
          async (from, value, rest, method) => {
            const path = `${from.replaceAll(/\{[^}]+\}/g, value)}${rest}`;
            expect(askOurs(api, method, path)).toEqual(askOriginal(api, method, path));
          },
        ),
        { numRuns: 300 },
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
