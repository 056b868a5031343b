import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import type { Client, TestService } from '../support/service.ts';
import { addMintable, otherRecipient, queuedKeys } from './mint-requests.ts';
import { recipient } from './samples.ts';

// What a refusal must not leave behind: whatever is wrong, no row changes and nobody is asked to mint.
let mintable: Awaited<ReturnType<typeof addMintable>>;
let foreign: Awaited<ReturnType<typeof addMintable>>;
test.beforeAll(async ({ service }) => {
  [mintable, foreign] = [await addMintable(service), await addMintable(service, 'globex')];
});

async function state(service: TestService) {
  const { db } = service;
  return {
    nfts: await db('nfts').orderBy('id'),
    rwas: await db('rwas').orderBy('id'),
    replays: await db('idempotency_records').orderBy('key'),
    jobs: (await queuedKeys(service)).toSorted(),
  };
}

/** Sends it and holds what is left behind against what was there. @returns status and code */
async function refusal(
  service: TestService,
  acme: Client,
  path: string,
  body: object | string,
  type = 'application/json',
) {
  const before = await state(service);
  const request = acme.post(path).set('Content-Type', type).set('Idempotency-Key', randomUUID());
  const answer = await request.send(body);
  expect(await state(service)).toEqual(before);
  return [answer.status, answer.body.code];
}

const recipients = {
  'is no address': 'Anna',
  'is a name': 'anna.eth',
  'is too short': '0x12',
  'is too long': `${recipient}00`,
  'is the zero address': `0x${'0'.repeat(40)}`,
  'has a wrong checksum': recipient.replace('C', 'c'),
  'has spaces': ` ${recipient}`,
  'is a number': 5,
  'is a list': [recipient],
};

describe.each(Object.entries(recipients))('a recipient that %s', (_, wrong) => {
  test('is refused for an issued NFT, though its secret is right', async ({ service, acme }) => {
    expect(
      await refusal(service, acme, mintable.path, { secret: mintable.secret, recipient: wrong }),
    ).toEqual([400, 'input_invalid']);
  });

  test('is refused for a new NFT, which is not made', async ({ service, acme }) => {
    expect(await refusal(service, acme, `/v1/api/rwa/${mintable.rwa.id}/mint`, { recipient: wrong })).toEqual(
      [400, 'input_invalid'],
    );
  });
});

describe('a secret', () => {
  test.for([
    ['is a number', { secret: 5 }, 400, 'input_invalid'],
    ['is an object', { secret: { $ne: '' } }, 400, 'input_invalid'],
    ['is a list', { secret: ['x'] }, 400, 'input_invalid'],
    ['is missing', { recipient }, 400, 'secret_required'],
    ['is empty', { secret: '' }, 400, 'secret_required'],
    ['is null', { secret: null }, 400, 'secret_required'],
    ['has 256 characters', { secret: 'x'.repeat(256) }, 400, 'input_invalid'],
    ['has a zero byte', { secret: 'a\u0000b' }, 400, 'input_invalid'],
    ['has 10 MB', { secret: 'x'.repeat(10_000_000) }, 413, 'body_too_large'],
    ['is wrong', { secret: 'wrong' }, 400, 'secret_invalid'],
  ] as const)('that %s', async ([_, body, status, code], { service, acme }) => {
    expect(await refusal(service, acme, mintable.path, body)).toEqual([status, code]);
  });

  test("that is another NFT's", async ({ service, acme }) => {
    const other = await addMintable(service);
    expect(await refusal(service, acme, mintable.path, { secret: other.secret })).toEqual([
      400,
      'secret_invalid',
    ]);
  });
});

describe.each([
  ['an issued NFT', (id: string) => `/v1/api/nft/${id}/mint`, 'nft_not_found'],
  ['a new NFT', (id: string) => `/v1/api/rwa/${id}/mint`, 'rwa_not_found'],
])('an id for %s', (_, path, unknown) => {
  test.for(['x', '1', '00000000-0000-0000-0000-00000000000g', "' OR true --", '%00'])(
    'that is no UUID: %s',
    async (id, { service, acme }) => {
      const [status, code] = await refusal(service, acme, path(encodeURIComponent(id)), { secret: 'x' });
      expect([status, ['input_invalid', 'path_malformed'].includes(code)]).toEqual([400, true]);
    },
  );

  test('that nobody has', async ({ service, acme }) => {
    const body = unknown === 'nft_not_found' ? { secret: 'x' } : {};
    expect(await refusal(service, acme, path(randomUUID()), body)).toEqual([404, unknown]);
  });
});

describe('what is not ours', () => {
  test('is not minted, neither issued nor new', async ({ service, acme }) => {
    expect(await refusal(service, acme, foreign.path, { secret: foreign.secret })).toEqual([
      403,
      'nft_foreign',
    ]);
    expect(await refusal(service, acme, `/v1/api/rwa/${foreign.rwa.id}/mint`, {})).toEqual([
      404,
      'rwa_not_found',
    ]);
  });
});

describe('a body', () => {
  test.for([
    ['that is no JSON', '{"secret":', 'application/json', 400],
    ['of another type', 'secret=x', 'application/x-www-form-urlencoded', 415],
    ['with an unknown field', { secret: 'x', mintedTx: '0x' }, 'application/json', 400],
  ] as const)('%s', async ([_, body, type, status], { service, acme }) => {
    expect((await refusal(service, acme, mintable.path, body, type))[0]).toBe(status);
  });
});

describe('after all that', () => {
  test('the right secret is accepted, a changed repetition is not, and one job is asked for', async ({
    service,
    acme,
  }) => {
    const { nft, path, secret } = mintable;
    const send = (body: object) => acme.post(path).set('Idempotency-Key', 'the one').send(body);
    await send({ secret, recipient }).expect(200);
    const before = await state(service);
    const changed = await send({ secret, recipient: otherRecipient }).expect(422);
    expect(changed.body.code).toBe('idempotency_key_reused');
    const replayed = await send({ secret, recipient }).expect(200);
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    expect(await state(service)).toEqual(before);
    expect(before.jobs.filter((id) => id === nft.id)).toHaveLength(1);
  });
});
