import newman from 'newman';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { contract, makeThings, mintOne, operations, placeholders } from './sample-world.ts';

const { baseUrl, key } = inject('live');
const read = async (file: string) => {
  const response = await fetch(`${baseUrl}/docs/${file}`);
  expect([file, response.status]).toEqual([file, 200]);
  return { type: response.headers.get('content-type'), text: await response.text() };
};

describe('llms.txt', () => {
  test('names every operation and document, and all of its links lead somewhere', async () => {
    const { type, text } = await read('llms.txt');
    expect(type).toBe('text/plain; charset=utf-8');
    // The form that llmstxt.org describes: a title, a quote, then sections of links.
    expect(text).toMatch(/^# [^\n]+\n\n> [^\n]+\n\n(- [^\n]+\n)+\n## /);
    for (const { operationId, fullPath, ...operation } of operations) {
      expect(text).toContain(`${fullPath}](`);
      const line = text.split('\n').find((each) => each.includes(`\`${operationId}\``));
      for (const scope of [operation['x-required-scope'] ?? 'No key'].flat())
        expect(line).toContain(scope === 'none' ? 'Any key' : scope);
    }
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, href = '']) => href);
    expect(links.length).toBeGreaterThan(operations.length + 2 * contract.length);
    for (const page of new Set(links.map((href) => href.replace(/#.*/, '')))) {
      expect(page.startsWith(`${baseUrl}/docs/`)).toBe(true);
      const { status } = await fetch(page);
      expect([page, status]).toEqual([page, 200]);
    }
  });
});

type Item = { name: string; item?: Item[]; request?: { method: string; url: { path: string[] } } };
const requestsOf = (items: readonly Item[]): Item[] =>
  items.flatMap((item) => [...(item.request ? [item] : []), ...requestsOf(item.item ?? [])]);

type Collection = { item: Item[]; variable: { key: string; value: string }[] };

describe('the Postman collection', () => {
  let collection: Collection;
  beforeAll(async () => {
    const { text } = await read('openapi.postman.json');
    const things = await makeThings([]);
    const world = placeholders(contract, things, await mintOne());
    collection = JSON.parse(world.reduce((done, [example, real]) => done.replaceAll(example, real), text));
  });

  test('has every operation that is not gone, at the address of this service', () => {
    const wanted = operations
      .filter(({ deprecated }) => !deprecated)
      .map(({ method, fullPath }) => `${method} ${fullPath.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    const made = requestsOf(collection.item).map(
      ({ request }) => `${request?.method} /${request?.url.path.join('/')}`,
    );
    expect(made.sort()).toEqual(wanted.sort());
    expect(collection.variable[0]).toEqual({ key: 'baseUrl', value: baseUrl });
  });

  test('runs as it stands, with nothing set but the key', async () => {
    const all = requestsOf(collection.item);
    // Claims need an RWA that opted in; the second way to remove an attendee finds nobody any more, and nobody is
    // registered yet whose ticket could be read.
    const left = [
      'Get the ticket of an attendee',
      'Claim an NFT for a wallet',
      'Get what there is to claim',
      'Remove an attendee from an event, without a body',
    ];
    const isWanted = ({ name }: Item) => !left.includes(name);
    const ofMethod = (...methods: string[]) =>
      all.filter((item) => isWanted(item) && methods.includes(item.request?.method ?? ''));
    // An event goes last, after its attendees.
    const item = [...ofMethod('GET'), ...ofMethod('POST', 'PATCH'), ...ofMethod('DELETE').toReversed()];
    const told = await runCollection({ ...collection, item });
    expect(told).toHaveLength(all.length - left.length);
    expect(told.filter(([, status]) => status < 200 || status >= 300)).toEqual([]);
  });
});

type Told = [name: string, status: number];

async function runCollection(collection: Collection): Promise<Told[]> {
  const envVar = [{ key: 'apiKey', value: key }];
  const { promise, resolve, reject } = Promise.withResolvers<Told[]>();
  newman.run({ collection, envVar, timeoutRequest: 30_000 }, (error, { run }) => {
    if (error !== null) reject(error);
    // Without an answer there is no response, whatever the types say.
    else resolve(run.executions.map(({ item, response }) => [item.name, response?.code ?? 0]));
  });
  return promise;
}
