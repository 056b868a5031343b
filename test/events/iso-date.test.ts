import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseIsoDate } from '../../src/base/iso-date.ts';

describe('a date or date-time that the calendar has', () => {
  test.each([
    ['2027-05-04', '2027-05-04T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2027-05-04T09:00:00Z', '2027-05-04T09:00:00.000Z'],
    ['2027-05-04t09:00:00z', '2027-05-04T09:00:00.000Z'],
    ['2027-05-04T09:00:00-00:00', '2027-05-04T09:00:00.000Z'],
    ['2027-01-01T00:30:00+02:00', '2026-12-31T22:30:00.000Z'],
    ['2026-12-31T22:30:00-05:45', '2027-01-01T04:15:00.000Z'],
    ['2027-05-04T09:00:00.5Z', '2027-05-04T09:00:00.500Z'],
    ['2027-05-04T09:00:00.123999999Z', '2027-05-04T09:00:00.123Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['0000-12-31T23:00:00-02:00', '0001-01-01T01:00:00.000Z'],
  ])('reads %s as %s', (text, instant) => {
    expect(parseIsoDate(text)?.toISOString()).toBe(instant);
  });

  test('reads every instant of the years 0001 to 9999 at every offset', () => {
    const instants = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    const offsets = fc.integer({ min: -1439, max: 1439 });
    fc.assert(
      fc.property(instants, offsets, (instant, offset) => {
        const local = new Date(instant.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const zone = `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
        expect(parseIsoDate(local + zone)).toEqual(instant);
      }),
    );
  });
});

describe('anything else', () => {
  test.each([
    '',
    'tomorrow',
    '2027',
    '2027-05',
    '20270504',
    '2027-13-01',
    '2027-00-10',
    '2027-01-00',
    '2027-02-29',
    '2027-02-30',
    '2100-02-29',
    '2027-04-31',
    '2027-05-04T09:00:00',
    '2027-05-04T09:00Z',
    '2027-05-04 09:00:00Z',
    '2027-05-04T24:00:00Z',
    '2027-05-04T09:60:00Z',
    '2016-12-31T23:59:60Z',
    '2027-05-04T09:00:00+24:00',
    '2027-05-04T09:00:00+0200',
    '2027-05-04T09:00:00.Z',
    '2027-05-04T09:00:00Z ',
    '2027-05-04T09:00:00Z\n',
    '+012027-05-04',
    '-0001-01-01',
    '0000-06-01',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
  ])('refuses %j', (text) => {
    expect(parseIsoDate(text)).toBeUndefined();
  });
});
