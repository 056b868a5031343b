import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { eventPath, givenAttendees, givenEvent } from './requests.ts';

test.beforeAll(async ({ acme }) => {
  const first = await givenEvent(acme, { name: 'first' });
  await givenEvent(acme, { name: 'june', startDate: '2027-06-01' });
  await givenEvent(acme, { name: 'july', startDate: '2027-07-01T00:00:00+02:00' });
  await givenEvent(acme, { name: 'august', startDate: '2027-08-01T12:30:00.250Z' });
  await givenAttendees(acme, first.id, 'ann', 'bob');
});

async function names(acme: Client, query: string): Promise<{ names: string[]; total: string | undefined }> {
  const answer = await acme.get(`${eventPath}${query}`).expect(200);
  const list: { name: string }[] = answer.body;
  return { names: list.map(({ name }) => name), total: answer.headers['x-total-count'] };
}

describe('200', () => {
  test('lists all events of the company, newest first, and counts them', async ({ acme }) => {
    expect(await names(acme, '')).toEqual({ names: ['august', 'july', 'june', 'first'], total: '4' });
  });

  test('tells the number of attendees of each event', async ({ acme }) => {
    const { body } = await acme.get(eventPath).expect(200);
    const counts = body.map((event: { totalAttendees: number }) => event.totalAttendees);
    expect(counts).toEqual([0, 0, 0, 2]);
  });

  test('shows each event as it is shown alone', async ({ acme }) => {
    const { body } = await acme.get(eventPath).expect(200);
    for (const event of body) {
      const alone = await acme.get(`${eventPath}/${event.id}`).expect(200);
      expect(event).toEqual(alone.body);
    }
  });

  test('is empty for a company without events', async ({ globex }) => {
    const answer = await globex.get(eventPath).expect(200);
    expect(answer.body).toEqual([]);
    expect(answer.headers['x-total-count']).toBe('0');
  });

  test.for([
    ['?limit=2', ['august', 'july'], '4'],
    ['?limit=2&offset=1', ['july', 'june'], '4'],
    ['?limit=200', ['august', 'july', 'june', 'first'], '4'],
    ['?offset=3', ['first'], '4'],
    ['?offset=4', [], '4'],
    ['?limit=5&offset=2147483647', [], '4'],
  ] as const)('pages with %s and still counts all', async ([query, expected, total], { acme }) => {
    expect(await names(acme, query)).toEqual({ names: expected, total });
  });

  test.for([
    ['?startsFrom=2027-06-01', ['august', 'july', 'june']],
    ['?startsFrom=2027-06-01T00:00:00.001Z', ['august', 'july']],
    ['?startsTo=2027-06-30T22:00:00Z', ['july', 'june']],
    ['?startsTo=2027-06-30T21:59:59.999Z', ['june']],
    ['?startsFrom=2027-07-01T00:00:00%2B02:00&startsTo=2027-08-01T12:30:00.25Z', ['august', 'july']],
    ['?startsFrom=2028-01-01&startsTo=2027-01-01', []],
  ] as const)(
    'narrows by start with %s, both ends included, events without a start left out',
    async ([query, expected], { acme }) => {
      expect(await names(acme, query)).toEqual({ names: expected, total: String(expected.length) });
    },
  );

  test('counts what matches on all pages when it pages and narrows', async ({ acme }) => {
    expect(await names(acme, '?startsFrom=2027-01-01&limit=1&offset=1')).toEqual({
      names: ['july'],
      total: '3',
    });
  });
});

describe('400', () => {
  test.for([
    ['startsFrom=2027-02-30', 'startsFrom'],
    ['startsTo=9999-12-31T23:59:59-01:00', 'startsTo'],
  ] as const)('refuses ?%s and names the parameter', async ([query, name], { acme }) => {
    const { body } = await acme.get(`${eventPath}?${query}`).expect(400);
    expect(body).toMatchObject({ code: 'input_invalid', errors: [{ in: 'query', name }] });
    expect(body.detail).toContain(name);
    expect(body.detail).toBe(body.errors[0].message);
  });

  test('lists every fault, the first one as the detail', async ({ acme }) => {
    const { body } = await acme.get(`${eventPath}?startsFrom=2027-02-30&startsTo=2027-02-31`).expect(400);
    expect(body.errors.map(({ name }: { name: string }) => name)).toEqual(['startsFrom', 'startsTo']);
    expect(body.detail).toContain('startsFrom');
  });
});
