import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandLine, settingsFor } from '../../cli/command-line.ts';
import { until } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const json = (...args: string[]) =>
  commandLine({
    ...settingsFor(setup.service.databaseUrl),
    SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
  }).json(...args);

const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const tokenOf = (rwaNumber: bigint, serial: bigint) => ((rwaNumber << 64n) + serial).toString();
const paused = async () => (await setup.service.db('mint_lanes').first()).pause_reason;

test('a contract on which another deployment has minted our ids: nothing is sent to it until that is settled', async () => {
  const { chain, service } = setup;
  const { number } = await service.db('rwas').first('number');
  for (const serial of [1n, 2n, 3n]) await chain.mintByHand(other, tokenOf(BigInt(number), serial));
  await chain.mine(5);
  const ids = await setup.accept(2);
  // Long after the other has minted.
  const later = (interval: string) =>
    service.db('nfts').update({ created_at: service.db.raw('now() + ?::interval', [interval]) });
  await later('1 hour');
  setup.work();
  await until('the pause', async () => (await paused()) === 'contract_shared');
  expect(await service.db('mint_transactions')).toEqual([]);
  expect((await chain.mints()).size).toBe(3);

  expect(await json('recover', '--apply')).toMatchObject({ status: 0, value: { left: 0 } });
  await later('0');
  expect(await setup.settle(ids)).toEqual([]);
  const serials = (await service.db('nfts').whereIn('id', ids).pluck('serial')).map(Number);
  expect(serials.toSorted()).toEqual([4, 5]);
  expect(await json('mint', 'verify')).toMatchObject({ status: 0 });
});
