import { expect } from 'vitest';
import { addNetwork } from '../rwa/samples.ts';
import { test } from './fixtures.ts';
import { noteLimits } from './noted-limits.ts';

test.for([
  ['index_state', ['index', 'reset', '1', '--yes']],
  ['index_state', ['network', 'remove', '1']],
  ['audit_log', ['audit', 'list']],
] as const)('a statement on %s may take an hour in %j', async ([table, args], { db, run }) => {
  await addNetwork(db, '1');
  await db('index_state').insert({ chain_id: '1', start_block: 0 }).onConflict('chain_id').ignore();
  const noted = await noteLimits(db, table);
  expect((await run(...args)).status).toBe(0);
  expect(await noted()).toEqual(['1h']);
});
