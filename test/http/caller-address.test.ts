import express from 'express';
import { describe, expect, test } from 'vitest';
import { proxy } from '../../src/config/setting-forms.ts';
import { callerAddress, createProxyCheck, parseCallerAddress } from '../../src/http/server/caller-address.ts';
import { testWith } from '../support/fixtures.ts';

describe('an address as proxies write it', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:5678', '203.0.113.7'],
    ['[203.0.113.7]:80', '203.0.113.7'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['[::1]:443', '::1'],
    ['2001:0DB8:0:0::00a1', '2001:db8::a1'],
    ['[2001:db8::a1%eth0]:443', '2001:db8::a1'],
    [`fe80::1%${'x'.repeat(5_000)}`, 'fe80::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:5678', '203.0.113.7'],
    ['0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
  ])('is read from %j', (text, address) => {
    expect(parseCallerAddress(text)).toBe(address);
  });

  test.each([
    '',
    'unknown',
    '_hidden',
    'host.example',
    '203.0.113',
    '203.0.113.256',
    '0x7f.1',
    '2130706433',
    '010.0.0.1',
    '203.0.113.7:',
    '203.0.113.7:x',
    '203.0.113.7:123456',
    '203.0.113.7%eth0',
    '[::1',
    '[::1]443',
    '[]:443',
    '1:2:3:4:5:6:7:8:443',
    '"[::1]:443"',
    'for=203.0.113.7',
    "203.0.113.7'; DROP TABLE audit_log",
    'x'.repeat(5_000),
    '1'.repeat(100_000),
  ])('is not %j', (text) => {
    expect(parseCallerAddress(text)).toBeUndefined();
  });
});

describe('the address of a caller', () => {
  const app = express().set(
    'trust proxy',
    createProxyCheck(['10.0.0.0/8', '2001:db8:1::/48', '::ffff:192.0.2.1']),
  );

  test.each([
    // Without a trusted proxy nobody is believed.
    ['198.51.100.1', '203.0.113.7', '198.51.100.1'],
    ['198.51.100.1', undefined, '198.51.100.1'],
    ['::ffff:198.51.100.1', undefined, '198.51.100.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    // A trusted proxy names its caller.
    ['10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['::ffff:10.0.0.1', '203.0.113.7:5678', '203.0.113.7'],
    ['2001:db8:1::5', '[2001:db8:2::7]:443', '2001:db8:2::7'],
    ['192.0.2.1', '203.0.113.7', '203.0.113.7'],
    // What stands left of the first address that is no trusted proxy may be made up.
    ['10.0.0.1', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
    ['10.0.0.1', 'made up, 203.0.113.7', '203.0.113.7'],
    ['10.0.0.1', '203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['10.0.0.1', '203.0.113.7, 10.0.0.2:4711', '203.0.113.7'],
    ['10.0.0.1', '203.0.113.7,,10.0.0.2', '203.0.113.7'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    // What is no address is nobody, and what stands left of it counts no more.
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.7, unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.7, unknown, 10.0.0.2', '10.0.0.1'],
    ['10.0.0.1', `203.0.113.7, ${'x'.repeat(5_000)}`, '10.0.0.1'],
    // 0x0a000002 is 10.0.0.2 to some parsers.
    ['10.0.0.1', '203.0.113.7, 167772162', '10.0.0.1'],
    [undefined, '203.0.113.7', ''],
  ])('is over a connection from %j with X-Forwarded-For %j: %j', (connected, forwarded, expected) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const request = Object.assign(Object.create(app.request), {
      socket: { remoteAddress: connected },
      headers,
    });
    expect(callerAddress(request)).toBe(expected);
  });

  test('knows the names of private networks, and no proxy without the setting', () => {
    const isNamed = createProxyCheck(['loopback', 'linklocal', 'uniquelocal']);
    for (const each of [
      '127.0.0.1',
      '127.9.9.9',
      '::1',
      '169.254.1.1',
      'fe80::1%eth0',
      '192.168.1.1',
      'fd00::1',
    ])
      expect(isNamed(each), each).toBe(true);
    for (const each of ['11.0.0.1', '172.32.0.1', '2001:db8::1', undefined])
      expect(isNamed(each), each).toBe(false);
    expect(createProxyCheck([])('127.0.0.1')).toBe(false);
  });

  test.each(['0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0.0/', 'everybody'])(
    'is not believed of %s, which is no setting',
    (text) => {
      expect(proxy.safeParse(text).success).toBe(false);
    },
  );
});

const behindProxy = testWith({ settings: { TRUSTED_PROXIES: 'loopback' } });

behindProxy('nothing longer than an address reaches the audit log', async ({ acme, db }) => {
  const created = await acme.post('/events/v1/api/event').send({ name: 'Spring fair' }).expect(201);
  const sent: [string, string][] = [
    ['[2001:DB8:0::7]:443', '2001:db8::7'],
    ['203.0.113.7:5678', '203.0.113.7'],
    [`203.0.113.7, ${'x'.repeat(5_000)}`, '127.0.0.1'],
    [`fe80::7%${'x'.repeat(5_000)}`, 'fe80::7'],
  ];
  for (const [index, [forwarded]] of sent.entries())
    await acme
      .patch(`/events/v1/api/event/${created.body.id}`)
      .set('X-Forwarded-For', forwarded)
      .send({ price: index })
      .expect(200);
  const rows = await db('audit_log')
    .where({ action: 'event.update', subject: created.body.id })
    .orderBy('id');
  expect(rows.map(({ origin }) => origin)).toEqual(sent.map(([, origin]) => origin));
});
