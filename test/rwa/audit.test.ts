import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';
import { addMintable } from './mint-requests.ts';

const entries = async ({ db }: TestService) => {
  const rows = await db('audit_log').orderBy('id');
  return rows.map(({ action, subject, details }) => ({ action, subject, details }));
};
const clear = ({ db }: TestService) =>
  db.transaction(async (tx) => {
    await tx.raw("SET LOCAL session_replication_role = 'replica'");
    await tx('audit_log').delete();
  });

describe('the audit log has of a key', () => {
  test('what it changed in events, once for a repeated request', async ({ service, acme }) => {
    const create = () =>
      acme.post('/events/v1/api/event').set('idempotency-key', 'one').send({ name: 'Tasting' });
    const { body } = await create();
    expect((await create()).status).toBe(201);
    const path = `/events/v1/api/event/${body.id}`;
    await acme.patch(path).send({ name: 'Another' }).expect(200);
    await acme.patch(path).send({ maxAttendees: -1 }).expect(400);
    await acme.post(`${path}/attendees`).send({ attendeeId: 'a' }).expect(201);
    await acme.post(`${path}/attendees`).send({ attendeeId: 'a' }).expect(409);
    await acme.delete(`${path}/attendees/a`).expect(204);
    await acme.delete(path).expect(204);
    expect(await entries(service)).toEqual([
      { action: 'event.create', subject: body.id, details: {} },
      { action: 'event.update', subject: body.id, details: { fields: ['name'] } },
      { action: 'attendee.add', subject: body.id, details: { attendeeId: 'a' } },
      { action: 'attendee.remove', subject: body.id, details: { attendeeId: 'a' } },
      { action: 'event.delete', subject: body.id, details: {} },
    ]);
  });

  test('who it was, from where, and in which request', async ({ service, acme }) => {
    await clear(service);
    await acme.post('/events/v1/api/event').set('x-request-id', 'request-7').send({ name: 'Tasting' });
    const [row] = await service.db('audit_log');
    const [key] = await service.db('api_keys').where({ label: 'acme' });
    expect(row).toMatchObject({
      actor_kind: 'key',
      actor: key.id,
      origin: expect.stringContaining('127.0.0.1'),
      request_id: 'request-7',
      company_id: service.companies.acme,
    });
  });

  test('which secrets it saw, and never a secret', async ({ service, acme }) => {
    const { rwa, nft, path, secret } = await addMintable(service);
    await clear(service);
    const seen = { count: 1, first: nft.id, last: nft.id };
    await acme.get(`/v1/api/rwa/${rwa.id}/nfts`).expect(200);
    await acme.get(`/v1/api/nft?rwaId=${rwa.id}`).expect(200);
    await acme.get(`/v1/api/nft/${nft.id}`).expect(200);
    const issue = () =>
      acme.post(`/v1/api/rwa/${rwa.id}/nfts`).set('idempotency-key', 'two').send({ count: 2 }).expect(200);
    const { body } = await issue();
    await issue();
    await acme.post(path).send({ secret: 'wrong' }).expect(400);
    await acme.post(path).send({ secret }).expect(200);
    await acme.post(path).send({ secret }).expect(200);
    const minted = await acme.post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
    const issued = { count: 2, first: body.nfts[0].id, last: body.nfts[1].id };
    const recipient = expect.stringMatching(/^0x/);
    expect(await entries(service)).toEqual([
      { action: 'nft.secrets_read', subject: rwa.id, details: seen },
      { action: 'nft.secrets_read', subject: rwa.id, details: seen },
      { action: 'nft.secrets_read', subject: nft.id, details: seen },
      { action: 'nft.create', subject: rwa.id, details: issued },
      { action: 'nft.secrets_read', subject: rwa.id, details: issued },
      { action: 'nft.mint', subject: nft.id, details: { recipient } },
      { action: 'nft.mint', subject: minted.body.nftId, details: { recipient } },
    ]);
    expect(JSON.stringify(await service.db('audit_log'))).not.toContain(secret);
  });

  test('nothing of what the database refused', async ({ service, acme }) => {
    await clear(service);
    await service.db.raw('ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (false) NOT VALID');
    const { rwa, nft } = await addMintable(service);
    expect((await acme.get(`/v1/api/rwa/${rwa.id}/nfts`)).status).toBe(500);
    expect((await acme.get(`/v1/api/nft/${nft.id}`)).status).toBe(500);
    expect((await acme.post('/events/v1/api/event').send({ name: 'Unknown' })).status).toBe(500);
    expect(await service.db('events').where({ name: 'Unknown' })).toEqual([]);
    await service.db.raw('ALTER TABLE audit_log DROP CONSTRAINT broken');
  });
});
