import { describe, expect, test } from 'vitest';
import { createDocumentApp } from '../../src/app.ts';
import { areas, basePaths, documents, type OperationObject } from '../../src/contract/documents.ts';
import { catalogue } from '../../src/errors.ts';
import { createAddressLimit } from '../../src/http/dispatch/address-limit.ts';
import { createLogger } from '../../src/log.ts';

/** The schemas of a document that have words for a missing field. */
function ofMissingFields(node: unknown): { message: unknown; code: unknown }[] {
  if (node === null || typeof node !== 'object') return [];
  const { 'x-message-required': message, 'x-code-required': code }: Record<string, unknown> = { ...node };
  const own = message === undefined && code === undefined ? [] : [{ message, code }];
  return [...own, ...Object.values(node).flatMap(ofMissingFields)];
}

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
      refusedKeys: createAddressLimit(0),
      publicRequests: createAddressLimit(0),
      db: undefined as never, // nothing is asked
      log: createLogger({ level: 'silent' }),
    };
    await expect(createDocumentApp([served], parts)).resolves.toBeDefined();
  });

  test('gives every missing field the code of the catalogue that has its message', () => {
    for (const { message, code } of ofMissingFields(document)) {
      expect(Object.entries(catalogue).find(([known]) => known === code)?.[1].detail).toBe(message);
    }
  });
});
