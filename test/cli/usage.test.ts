import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';

const days = ['--from', '2026-11-01', '--to', '2026-11-30'];

test.beforeAll(async ({ run, json, db }) => {
  await run('company', 'create', 'acme');
  await run('company', 'create', 'globex');
  const { value } = await json('company', 'list');
  const idOf = (name: string) => value.find((each: { name: string }) => each.name === name).id;
  const counts = { key_id: 'a', operation: 'listEvents', calls: 3, rejections: 1 };
  await db('usage_minutes').insert([
    { ...counts, company_id: idOf('acme'), minute: '2026-11-01T00:00:00Z' },
    { ...counts, company_id: idOf('acme'), minute: '2026-11-30T23:59:00Z', operation: '=cmd()', calls: 2 },
    { ...counts, company_id: idOf('acme'), minute: '2026-12-01T00:00:00Z' },
    { ...counts, company_id: idOf('globex'), minute: '2026-11-01T00:00:00Z' },
  ]);
  await db('company_gas_days').insert({
    company_id: idOf('acme'),
    chain_id: 1,
    day: '2026-11-30',
    wei: '123456789012345678901234',
  });
});

describe('usage', () => {
  test('prints CSV that a spreadsheet does not run', async ({ run }) => {
    const { status, out } = await run('usage', '--company', 'acme', ...days, '--csv');
    expect(status).toBe(0);
    expect(out.split('\r\n')).toEqual([
      'kind,name,calls,rejections,mints,wei',
      'operation,listEvents,3,1,,',
      "operation,'=cmd(),2,1,,",
      'total,,5,2,0,',
      'gas,1,,,,123456789012345678901234',
      '',
    ]);
  });

  test('shows one company alone, by key', async ({ json, run }) => {
    const { value } = await json('usage', '--company', 'globex', ...days, '--by', 'key');
    expect(value).toMatchObject({ calls: 3, rejections: 1, mints: 0, gas: [] });
    expect(value.items).toEqual([{ name: 'a', calls: 3, rejections: 1, mints: 0 }]);
    const byKey = await run('usage', '--company', 'acme', ...days, '--by', 'key', '--csv');
    expect(byKey.out.split('\r\n')).toContain('key,a,5,2,0,');
    const { out, err } = await run('usage', '--company', 'acme', ...days);
    expect(out).toMatch(/^OPERATION +CALLS +REJECTIONS\nlistEvents +3 +1\n/);
    expect(err).toContain('5 calls, 2 rejections, 0 mints\nGas on 1: 123456789012345678901234 wei\n');
  });

  test.for([
    [['--from', '2026-02-30', '--to', '2026-03-01'], 'It must be a date'],
    [['--from', '2026-11-02', '--to', '2026-11-01'], '--to must not be before --from.'],
    [[...days, '--by', 'colour'], 'Allowed choices are operation, key'],
    [['--from', '2026-11-01'], '--to'],
  ] as const)('rejects %j', async ([args, message], { run }) => {
    const { status, err } = await run('usage', '--company', 'acme', ...args);
    expect(status).toBe(2);
    expect(err).toContain(message);
  });
});
