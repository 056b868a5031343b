import { describe, expect, test } from 'vitest';
import { parseRwaInput } from '../../src/rwa/assets/rwa-input.ts';

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const least = { name: 'Cask', type: 'whisky', chainId: 31337, contractAddress: contract };

function errorsOf(raw: unknown) {
  const parsed = parseRwaInput(raw);
  return parsed.ok ? [] : parsed.errors;
}

describe('an RWA that the operator wrote', () => {
  test('needs only name, type, network and contract; all else is unset', () => {
    expect(parseRwaInput(least)).toEqual({
      ok: true,
      input: {
        ...least,
        chainId: '31337',
        description: null,
        imageUrl: null,
        isBuyable: false,
        isClaimable: false,
        price: null,
        currency: null,
        data: null,
        claimPage: false,
        claimBaseUrl: null,
      },
    });
  });

  test.for(['name', 'type', 'chainId', 'contractAddress'] as const)(
    'is told that %s is required where it is missing or null',
    (field) => {
      const { [field]: _, ...rest } = least;
      for (const raw of [rest, { ...least, [field]: null }])
        expect(errorsOf(raw)).toEqual([{ field, message: 'is required' }]);
    },
  );

  test('reads the texts of a CSV: flags, JSON data and empty cells', () => {
    const cells = {
      ...least,
      chainId: '31337',
      description: '',
      isBuyable: 'true',
      isClaimable: 'false',
      price: '1250.00',
      currency: 'EUR',
      data: '{"litres":220}',
    };
    expect(parseRwaInput(cells)).toMatchObject({
      ok: true,
      input: {
        description: null,
        isBuyable: true,
        isClaimable: false,
        price: '1250.00',
        data: { litres: 220 },
      },
    });
  });

  test('keeps a price exact and refuses one that came as a number', () => {
    const price = '12345678901234567890.123456789012345678';
    expect(parseRwaInput({ ...least, price, currency: 'EUR' })).toMatchObject({ ok: true, input: { price } });
    expect(errorsOf({ ...least, price: 12.5, currency: 'EUR' })).toEqual([
      { field: 'price', message: 'must be a decimal number as text' },
    ]);
  });

  test('writes the contract in EIP-55 form and refuses a wrong checksum', () => {
    const lower = { ...least, contractAddress: contract.toLowerCase() };
    expect(parseRwaInput(lower)).toMatchObject({ ok: true, input: { contractAddress: contract } });
    expect(errorsOf({ ...least, contractAddress: contract.replace('Fb', 'fb') })).toEqual([
      { field: 'contractAddress', message: 'has a wrong EIP-55 checksum' },
    ]);
    expect(errorsOf({ ...least, contractAddress: '0x12' })).toEqual([
      { field: 'contractAddress', message: 'must be 0x and 40 hex digits' },
    ]);
  });

  test('names every fault at once, with its field', () => {
    const fields = errorsOf({
      name: '',
      chainId: '0x1',
      price: '-1',
      imageUrl: 'javascript:1',
      extra: 1,
    }).map(({ field }) => field);
    expect(fields.toSorted()).toEqual(
      ['chainId', 'contractAddress', 'extra', 'imageUrl', 'name', 'price', 'type'].toSorted(),
    );
  });

  test('needs a currency with a price', () => {
    expect(errorsOf({ ...least, price: '1' })).toEqual([
      { field: 'currency', message: 'is needed with a price' },
    ]);
  });
});

describe('the data of an RWA', () => {
  test.each([
    ['a list', [1]],
    ['text that is no JSON', '{'],
    ['more than 20 levels', JSON.parse(`${'{"a":'.repeat(20)}{}${'}'.repeat(20)}`)],
    ['more than 16 kB', { text: 'x'.repeat(16_384) }],
    ['more than 16 kB as PostgreSQL writes numbers', { list: new Array(60).fill(5e-324) }],
    ['NUL', { text: 'a\0b' }],
    ['a lone surrogate in a key', { '\ud800': 1 }],
    ['50,000 levels', JSON.parse(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)],
  ])('refuses data with %s', (_, data) => {
    expect(errorsOf({ ...least, data })).toMatchObject([{ field: 'data' }]);
  });

  test.each([
    ['20 levels', JSON.parse(`${'{"a":'.repeat(19)}{}${'}'.repeat(19)}`)],
    ['tiny numbers', { list: new Array(40).fill(5e-324), text: '1e-9 of it' }],
    ['16 kB', { text: 'x'.repeat(16_384 - '{"text":""}'.length) }],
    ['a written backslash-u', { text: '\\u0000 😀' }],
  ])('takes data with %s', (_, data) => {
    expect(parseRwaInput({ ...least, data })).toMatchObject({ ok: true, input: { data } });
  });

  test.each([null, undefined, 'text', [], 1])('refuses %j as a whole', (raw) => {
    expect(errorsOf(raw).length).toBeGreaterThan(0);
  });
});
