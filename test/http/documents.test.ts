import { describe, expect, test } from 'vitest';
import { createDocumentApp } from '../../src/app.ts';
import { areas, basePaths, documents, type OperationObject } from '../../src/contract/documents.ts';
import { catalogue } from '../../src/errors.ts';
import { createLogger } from '../../src/log.ts';

type Item = Readonly<Record<string, OperationObject | undefined>>;
const methods = ['get', 'post', 'put', 'patch', 'delete'];

describe.each(areas)('the document %s', (area) => {
  const document = documents[area];

  test('is one that dispatch enforces: every schema compiles strictly', async () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      methods.flatMap((method) => (item as Item)[method]?.operationId ?? []),
    );
    const handlers = Object.fromEntries(ids.map((id) => [id, async () => ({ status: 200 })]));
    const served = { area, basePath: basePaths[area], document, handlers, isCompanyRequired: true };
    const parts = {
      verifier: { verify: async () => ({ ok: false, reason: 'invalid' }) as const, close: async () => {} },
      limiter: { consume: async () => ({ headers: {} }) },
      db: undefined as never, // nothing is asked
      log: createLogger({ level: 'silent' }),
    };
    await expect(createDocumentApp([served], parts)).resolves.toBeDefined();
  });

  test('gives every message for a missing field a code of its own', () => {
    const messages = [...JSON.stringify(document).matchAll(/"x-message-required":"([^"]*)"/g)];
    const known = Object.values(catalogue).map(({ detail }) => detail as string);
    for (const [, message] of messages) expect(known).toContain(message);
  });
});
