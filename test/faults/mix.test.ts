import { expect, test } from 'vitest';
import { createLedger } from '../../scripts/load/ledger.ts';
import { createMix } from '../../scripts/load/mix.ts';
import type { Company } from '../../scripts/load/world.ts';

const company = (name: string): Company => ({
  id: name,
  name,
  key: 'key',
  otherKey: 'other',
  events: ['event'],
  rwas: ['rwa'],
  wallets: ['0x01'],
  unclaimed: Array.from({ length: 100 }, (_, index) => ({ id: `${name} ${index}`, secret: 'secret' })),
});

/** The rarest is one of 70, and its distance is not always the same. */
const window = 80;

test('in every 80 requests of a company is each kind, whoever else asks', () => {
  const [acme, globex] = [company('acme'), company('globex')];
  const mix = createMix(createLedger());
  const asked = Array.from({ length: 400 }, (_, turn) => {
    if (turn % 3 === 0) mix(globex);
    return mix(acme).kind;
  });
  const kinds = new Set(asked);
  expect(kinds.size).toBe(13);
  for (let from = 0; from + window <= asked.length; from += 1) {
    expect(new Set(asked.slice(from, from + window))).toEqual(kinds);
  }
});
