import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { breaksOf, createAnnouncements } from '../../scripts/contract/breaks.ts';
import { diffDocuments } from '../../scripts/redocly.ts';
import { areas } from '../../src/contract/documents.ts';

type Ended = { readonly status: number; readonly stdout: string; readonly stderr: string };

function contractDiff(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/contract-diff.ts', ...args], (error, stdout, stderr) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contract-diff-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the command', () => {
  test('fails on a breaking change that is not announced, and says what to do', async () => {
    for (const area of areas) {
      const document = JSON.parse(await readFile(`src/contract/generated/${area}.json`, 'utf8'));
      // As if the last release had one more operation and one status less.
      const agenda = { operationId: 'getAgenda', responses: { 200: { description: 'What is on.' } } };
      if (area === 'events') document.paths['/agenda'] = { get: agenda };
      if (area === 'events') delete document.paths['/event'].get.responses['429'];
      await writeFile(join(folder, `${area}.json`), JSON.stringify(document));
    }
    const { status, stdout, stderr } = await contractDiff(folder);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^events: `\/agenda` `path-removed`: .*\n2 differences, 1 of them break callers\n$/,
    );
    expect(stderr).toContain('### Breaking');
  });

  test('passes against the last release', async () => {
    expect(await contractDiff()).toMatchObject({ status: 0, stderr: '' });
  });

  test.each(['no-such-revision', '--output=x'])('refuses the base %s', async (base) => {
    expect((await contractDiff(base)).status).toBe(2);
  });
});

describe('what breaks callers', () => {
  const text = { type: 'string' };
  const before = {
    openapi: '3.1.0',
    info: { title: 'Sample', version: '1.0.0' },
    paths: {
      '/thing': {
        get: {
          operationId: 'listThings',
          parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } }],
          responses: {
            200: {
              description: 'Things.',
              headers: { 'X-Count': { required: true, schema: text } },
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            },
            404: { description: 'None.' },
          },
        },
        post: {
          operationId: 'createThing',
          requestBody: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/NewThing' } } },
          },
          responses: { 204: { description: 'Done.' } },
        },
        delete: { operationId: 'deleteThings', responses: { 204: { description: 'Gone.' } } },
      },
    },
    components: {
      schemas: {
        NewThing: {
          type: 'object',
          additionalProperties: false,
          required: ['name'],
          properties: { name: { ...text, maxLength: 50 }, note: text },
        },
        Thing: {
          type: 'object',
          required: ['name'],
          properties: { name: { ...text, maxLength: 50 }, colour: { ...text, enum: ['red', 'green'] } },
        },
      },
    },
  };
  const { get, post, delete: remove } = before.paths['/thing'];
  const { NewThing, Thing } = before.components.schemas;

  /** What is found in the sample with other operations or schemas. */
  async function breaksBy(operations: object, schemas: object = {}) {
    const files = [join(folder, 'before.json'), join(folder, 'after.json')] as const;
    await writeFile(files[0], JSON.stringify(before));
    await writeFile(files[1], JSON.stringify(changed(operations, schemas)));
    return breaksOf({ area: 'events', changes: await diffDocuments(...files) }).map(
      ({ subject, rule }) => `${subject} ${rule}`,
    );
  }
  const changed = (operations: object, schemas: object) => ({
    ...before,
    paths: { '/thing': { ...before.paths['/thing'], ...operations } },
    components: { schemas: { ...before.components.schemas, ...schemas } },
  });

  test('is what callers send, what they are answered, and what redocly does not judge', async () => {
    const { 200: things } = get.responses;
    const found = await breaksBy(
      {
        get: {
          ...get,
          parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } }],
          responses: { 200: { ...things, headers: { 'X-Count': { schema: text } } } },
        },
        delete: { ...remove, requestBody: { ...post.requestBody, required: true } },
      },
      {
        NewThing: {
          ...NewThing,
          required: ['name', 'note'],
          properties: { ...NewThing.properties, name: { ...text, maxLength: 50, readOnly: true } },
        },
        Thing: {
          ...Thing,
          required: [],
          properties: { ...Thing.properties, colour: { ...text, enum: ['red', 'green', 'blue'] } },
        },
      },
    );
    expect(found.toSorted()).toEqual([
      'DELETE /thing required-body-added',
      'GET /thing header-became-optional',
      'GET /thing response-removed',
      'GET /thing schema-constraint-changed',
      'schemas/NewThing property-became-read-only',
      'schemas/NewThing required-properties-added',
      'schemas/Thing enum-values-added',
      'schemas/Thing required-properties-removed',
    ]);
  });

  test('is no addition, and no larger limit', async () => {
    const found = await breaksBy(
      {
        get: {
          ...get,
          parameters: [...get.parameters, { name: 'page', in: 'query', schema: { type: 'integer' } }],
          responses: { ...get.responses, 429: { description: 'Too many.' } },
        },
        patch: { operationId: 'updateThing', responses: { 204: { description: 'Done.' } } },
      },
      {
        NewThing: {
          ...NewThing,
          properties: { ...NewThing.properties, name: { ...text, maxLength: 80 }, size: text },
        },
        Thing: {
          ...Thing,
          properties: { ...Thing.properties, name: { ...text, maxLength: 80 }, size: text },
        },
      },
    );
    expect(found).toEqual([]);
  });
});

describe('an announcement', () => {
  const change = {
    area: 'events',
    subject: 'GET /agenda',
    rule: 'operation-removed',
    message: 'It is gone.',
  };
  const line = '- `GET /agenda` `operation-removed`: ask\n  for the event.\n';

  test.each([
    ['below Breaking of Unreleased', `## Unreleased\n\n### Breaking\n\n${line}\n### Added\n`, true],
    ['below another heading', `## Unreleased\n\n### Breaking\n\n### Removed\n\n${line}`, false],
    ['of an older release', `## Unreleased\n\n## 1.0.0\n\n### Breaking\n\n${line}`, false],
    ['of another subject', '## Unreleased\n\n### Breaking\n\n- `GET /event` `operation-removed`\n', false],
    ['of another rule', '## Unreleased\n\n### Breaking\n\n- `GET /agenda` `response-removed`\n', false],
  ])('%s', (_where, changelog, isAnnounced) => {
    expect(createAnnouncements(changelog)(change)).toBe(isAnnounced);
  });
});
