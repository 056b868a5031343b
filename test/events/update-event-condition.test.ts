import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { eventPath, givenEvent, heldUp } from './requests.ts';

const at = (id: string) => `${eventPath}/${id}`;

describe('200', () => {
  test('loses no change of two that are made at once', async ({ acme }) => {
    const { id } = await givenEvent(acme);
    const changes = [{ location: 'Ely' }, { price: 10 }, { program: 'supper' }, { currency: 'EUR' }];
    await Promise.all(changes.map((change) => acme.patch(at(id)).send(change).expect(200)));
    const { body } = await acme.get(at(id)).expect(200);
    expect(body).toMatchObject(Object.assign({}, ...changes));
  });

  test('changes the event under an If-Match that names its version, and answers with the next tag', async ({
    acme,
  }) => {
    const { id, etag } = await givenEvent(acme);
    const first = await acme.patch(at(id)).set('If-Match', etag).send({ price: 1 }).expect(200);
    const next = String(first.headers['etag']);
    expect(next).not.toBe(etag);
    await acme.patch(at(id)).set('If-Match', `"other", ${next}`).send({ price: 2 }).expect(200);
    await acme.patch(at(id)).set('If-Match', '*').send({ price: 3 }).expect(200);
  });
});

describe('412', () => {
  test.for(['"other"', 'nonsense', '"a", "b"'])(
    'refuses the change under If-Match %s',
    async (ifMatch, { acme }) => {
      const { id, etag } = await givenEvent(acme);
      const { body } = await acme.patch(at(id)).set('If-Match', ifMatch).send({ price: 1 }).expect(412);
      expect(body.code).toBe('precondition_failed');
      const after = await acme.get(at(id)).expect(200);
      expect(after.headers['etag']).toBe(etag);
    },
  );

  test('refuses the tag of an earlier version', async ({ acme }) => {
    const { id, etag } = await givenEvent(acme);
    await acme.patch(at(id)).send({ price: 1 }).expect(200);
    const { body } = await acme.patch(at(id)).set('If-Match', etag).send({ price: 2 }).expect(412);
    expect(body.detail).toBe('The record has changed since the version named in If-Match.');
  });

  test.for(['W/"…"', '"…-gzip"', '"…;gzip"', '"…--gzip"', '"…-br"', '"…-zstd"', 'W/"…-gzip"', '"a", W/"…"'])(
    'says of If-Match %s that a proxy has weakened the tag, and changes nothing',
    async (form, { acme }) => {
      const { id, etag } = await givenEvent(acme);
      const ifMatch = form.replace('…', etag.slice(1, -1));
      const { body } = await acme.patch(at(id)).set('If-Match', ifMatch).send({ price: 2 }).expect(412);
      const detail = 'A proxy has weakened the tag in If-Match, so it never matches.';
      expect(body).toMatchObject({ code: 'etag_weakened', detail });
      await acme.delete(at(id)).set('If-Match', ifMatch).expect(412);
      expect((await acme.get(at(id)).expect(200)).headers['etag']).toBe(etag);
    },
  );

  test("is not the answer for another company's event, which would tell that it exists", async ({
    acme,
    globex,
  }) => {
    const { id } = await givenEvent(acme);
    await globex.patch(at(id)).set('If-Match', '"x"').send({ price: 1 }).expect(404);
    await globex.delete(at(id)).set('If-Match', '"x"').expect(404);
  });

  test('is told before a broken rule: the caller knew another event', async ({ acme }) => {
    const { id } = await givenEvent(acme, { price: 10 });
    await acme.patch(at(id)).set('If-Match', '"other"').send({ discountPrice: 11 }).expect(412);
  });

  test('lets only one of many changes of one version through', async ({ service, acme }) => {
    const { id, etag } = await givenEvent(acme);
    const change = async (price: number) =>
      (await acme.patch(at(id)).set('If-Match', etag).send({ price })).status;
    const all = () => Promise.all([1, 2, 3, 4, 5].map(change));
    const statuses = await heldUp(service, { table: 'events', waiting: 5 }, all);
    expect(statuses.sort()).toEqual([200, 412, 412, 412, 412]);
  });
});
