import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { ItemStream } from '../../src/contract/item-stream.ts';
import { TextStream } from '../../src/contract/text-stream.ts';
import type { VerifyResult } from '../../src/keys/verifier.ts';
import { callerOf, fixtureApp, goodKey } from './support.ts';

const piece = 'x'.repeat(64 * 1024);
const accepted: VerifyResult = { ok: true, caller: { ...callerOf(), scopes: ['events:write'] } };

/** Reads a stream of three pieces while the verifier says something else from the second one on. */
async function readWhile(later: VerifyResult, stream: (pieces: AsyncGenerator<string>) => object) {
  let [now, made] = [accepted, 0];
  async function* pieces() {
    for (; made < 3; made += 1) {
      yield piece;
      now = later;
    }
  }
  const app = await fixtureApp({
    verifier: { verify: async () => now, close: async () => {} },
    handlers: { createThing: async () => ({ status: 200, body: stream(pieces()) }) },
  });
  const answered = supertest(app).post('/api/thing').set('x-api-key', goodKey).send({ name: 'a' });
  const outcome = await answered.then(
    ({ status }) => status,
    ({ message }: Error) => message,
  );
  return { outcome, made };
}

async function* batchesOf(pieces: AsyncGenerator<string>) {
  for await (const each of pieces) yield [each];
}

describe.each([
  ['of items', (pieces: AsyncGenerator<string>) => new ItemStream(batchesOf(pieces), 0)],
  ['of text', (pieces: AsyncGenerator<string>) => new TextStream('text/csv; charset=utf-8', pieces, 0)],
] as const)('a stream %s', (_kind, stream) => {
  test.each([
    ['was revoked', { ok: false, reason: 'invalid' }],
    ['lost its scope', { ok: true, caller: { ...callerOf(), scopes: ['events:read'] } }],
    ['is of another company', { ok: true, caller: callerOf('globex') }],
  ] as const)('is cut when its key %s meanwhile', async (_what, later) => {
    const { outcome, made } = await readWhile(later, stream);
    expect(outcome).toMatch(/aborted|hang up|ECONNRESET/);
    expect(made).toBe(1);
  });

  test('goes on to its end while its key stays as it is', async () => {
    expect(await readWhile(accepted, stream)).toEqual({ outcome: 200, made: 3 });
  });
});
