import { describe, expect, test } from 'vitest';
import { ticketUrl } from '../../../src/events/checkin/ticket-url.ts';
import { ticketOf } from '../../pages/door/door-modules.ts';
import { pageModule } from '../../pages/page-modules.ts';

const { readLink } = (await pageModule('ticket/link.js')) as { readLink(hash: string): object };
const page = 'https://tickets.example/ticket';
const startDate = new Date('2027-05-04T09:00:00Z');
const endDate = new Date('2027-05-04T12:00:00Z');

describe('the link to the page of a ticket', () => {
  test('has in its fragment what the page shows', async () => {
    const ticket = await ticketOf();
    const event = { name: 'Spring & <fair> #1 50%', startDate, endDate, location: 'Hall 3, "left"' };
    const { origin, pathname, search, hash } = new URL(ticketUrl(page, ticket, event));
    expect([origin + pathname, search]).toEqual([page, '']);
    expect(readLink(hash)).toMatchObject({
      ticket,
      name: event.name,
      start: startDate.toISOString(),
      end: endDate.toISOString(),
      place: event.location,
    });
  });

  test('has nothing of what the event has not, and long texts cut', async () => {
    const ticket = await ticketOf();
    const nothing = { startDate: null, endDate: null, location: null };
    expect(ticketUrl(page, ticket, { name: 'x', ...nothing })).toBe(`${page}#${ticket}&name=x`);
    const long = ticketUrl(page, ticket, {
      name: '🎪'.repeat(255),
      ...nothing,
      location: `${'y'.repeat(199)}\ud800z`,
    });
    expect(readLink(new URL(long).hash)).toMatchObject({
      name: '🎪'.repeat(200),
      place: `${'y'.repeat(199)}\ufffd`,
    });
  });
});
