import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { checkOutRelease, findOldestRelease, type Release } from '../../support/oldest-release.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

const last = findOldestRelease();
const why = typeof last === 'string' ? ` (skipped: ${last})` : '';

describe.skipIf(typeof last === 'string')(`a worker of the oldest release${why}`, () => {
  let release: Release;
  let setup: MintSetup;
  beforeAll(() => {
    if (typeof last !== 'string') release = checkOutRelease(last);
  });
  afterAll(() => release.remove());
  beforeEach(async () => {
    setup = await createMintSetup();
  });
  afterEach(() => setup.close());

  const holder = async () => (await setup.service.db('mint_lanes').first()).holder;
  const hasLane = (pid = 0) => until(`lane of ${pid}`, async () => (await holder())?.endsWith(` ${pid}`));

  test('goes on over the present database, and this one finishes what it began', async () => {
    const old = setup.workFrom(release.folder);
    await old.until(/working/);
    const mining = setup.keepMining();
    const ids = await setup.accept(4);
    await untilAll(setup.service, ids, 'minted');
    // It knows nothing of these columns.
    const columns = setup.service.db('mint_transactions').distinct('company_ids', 'out_of_gas');
    expect(await columns).toEqual([{ company_ids: [], out_of_gas: false }]);
    await setup.chain.call('evm_setAutomine', false);
    mining.stop();
    ids.push(...(await setup.accept(4)));
    await untilAll(setup.service, ids.slice(4), 'submitted');
    old.child.kill('SIGKILL');
    const young = setup.work();
    await hasLane(young.child.pid);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('beside this one takes the lane over and back, and no NFT is minted twice', async () => {
    const young = setup.work();
    await young.until(/working/);
    await hasLane(young.child.pid);
    const old = setup.workFrom(release.folder);
    await old.until(/working/);
    await setup.chain.call('evm_setAutomine', false);
    const ids = await setup.accept(4);
    await untilAll(setup.service, ids, 'submitted');
    // It is away for longer than its lease.
    young.child.kill('SIGSTOP');
    await hasLane(old.child.pid);
    ids.push(...(await setup.accept(4)));
    await setup.chain.mine();
    await untilAll(setup.service, ids, 'submitted');
    young.child.kill('SIGCONT');
    old.child.kill('SIGTERM');
    expect(await old.ended).toBe(0);
    await hasLane(young.child.pid);
    expect(await setup.settle(ids)).toEqual([]);
  });
});
