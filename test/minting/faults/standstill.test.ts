import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isNetworkStaffed } from '../../../src/rwa/minting/lane-status-store.ts';
import { mintReasons } from '../../../src/rwa/minting/mint-reason.ts';
import { until, untilAll } from '../../support/minting.ts';
import { keepsBroadcasts } from '../../support/node/wrongs.ts';
import { type LoggedWorker, startLoggedWorker } from '../logged-worker.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let workers: LoggedWorker[];
beforeEach(async () => {
  setup = await createMintSetup({ minters: 2 });
  workers = [];
});
afterEach(async () => {
  for (const worker of workers) await worker.stop();
  await setup.close();
});

async function startWorker(options: Parameters<typeof startLoggedWorker>[1]): Promise<LoggedWorker> {
  const worker = await startLoggedWorker(setup, options);
  workers.push(worker);
  return worker;
}

/** Leaves the first signer alone, so that every reason is one of its lane. */
async function startOneLane(options: Parameters<typeof startLoggedWorker>[1] = {}): Promise<LoggedWorker> {
  await setup.service.db('mint_lanes').where({ signer: setup.signers[1] }).delete();
  return startWorker({ keys: setup.chain.keys.slice(0, 1), ...options });
}

/** What the company reads of an NFT. */
async function noteOf(id: string | undefined): Promise<string | null> {
  const { service } = setup;
  return (await service.as(service.keys.acme).get(`/v1/api/nft/${id}`)).body.mintNote;
}

const noted = (id: string | undefined, reason: keyof typeof mintReasons) =>
  until(`the note ${reason}`, async () => (await noteOf(id)) === mintReasons[reason].note);
const lane = () => setup.service.db('mint_lanes').where({ signer: setup.signers[0] }).first();

describe('no mint stands still without a reason that all can see:', () => {
  test('no node answers', async () => {
    const worker = await startOneLane();
    setup.node.lie('down');
    const ids = await setup.accept(2);
    await noted(ids[0], 'nodes_unavailable');
    expect((await lane()).pause_detail).toContain('No node of network 31337 answered');
    expect(await worker.metric('lane_paused{')).toBe(1);
    expect((await worker.ask('/readyz')).status).toBe(503);
    // Many polls later it is still told once.
    const polls = setup.node.told();
    await until('more polls', async () => setup.node.told() > polls + 10);
    expect(worker.said('mint lane paused')).toMatchObject([{ reason: 'nodes_unavailable' }]);

    expect(await setup.settle(ids)).toEqual([]);
    await until('the end', async () => (await lane()).pause_reason === null);
    expect(worker.said('mint lane resumed')).toMatchObject([{ reason: 'nodes_unavailable' }]);
    expect(await noteOf(ids[0])).toBeNull();
  });

  test('the price rises above the cap while transactions are in flight', async () => {
    const { chain } = setup;
    await chain.call('evm_setAutomine', false);
    const worker = await startOneLane({ feeCapGwei: 20 });
    const ids = await setup.accept(2);
    await untilAll(setup.service, ids, 'submitted');
    for (let block = 0; block < 6; block += 1) {
      await chain.call('anvil_setNextBlockBaseFeePerGas', `0x${(100n * 10n ** 9n).toString(16)}`);
      await chain.mine();
    }
    await noted(ids[0], 'fee_above_cap');
    expect((await lane()).pause_detail).toContain('20000000000 is the most that may be paid');
    // Nobody has to do anything about it.
    expect((await worker.ask('/readyz')).status).toBe(200);
    await chain.call('anvil_setNextBlockBaseFeePerGas', '0x3b9aca00');
    expect(await setup.settle(ids)).toEqual([]);
    await until('the end', async () => (await lane()).pause_reason === null);
  });

  test('the node keeps every transaction to itself, and nothing says why', async () => {
    const worker = await startOneLane();
    expect(await worker.metric('unexplained{')).toBe(0);
    setup.node.setFlaws(keepsBroadcasts());
    const ids = await setup.accept(2);
    const mining = setup.keepMining(25);
    await untilAll(setup.service, ids, 'submitted');
    await noted(ids[0], 'unexplained');
    mining.stop();
    const note = await setup.service.db('mint_notes').where({ nft_id: ids[0] }).first();
    expect(note.detail).toMatch(
      /^Submitted with nonce \d+ in \d+ attempts, the last 0x.{64}\. The node last said: sent\.$/,
    );
    expect(await worker.metric('unexplained{')).toBe(2);
    expect(await worker.metric('waiting{chain_id="31337",reason="unexplained"}')).toBe(2);

    setup.node.setFlaws();
    expect(await setup.settle(ids)).toEqual([]);
    expect(await noteOf(ids[0])).toBeNull();
    expect(await worker.metric('unexplained{')).toBe(0);
  });

  test('the signer is taken out of the settings: what it sent is watched, and what is accepted says that nobody can sign', async () => {
    const { chain, service } = setup;
    const [gone = '', other = ''] = setup.signers;
    await chain.call('evm_setAutomine', false);
    const first = await startOneLane();
    const ids = await setup.accept(3);
    await untilAll(service, ids, 'submitted');
    await first.stop();
    workers.pop();
    expect(await isNetworkStaffed(service.db, '31337')).toBe(true);
    await service.db('mint_lanes').update({ staffed_at: new Date(Date.now() - 700_000) });
    expect(await isNetworkStaffed(service.db, '31337')).toBe(false);
    expect(await noteOf(ids[0])).toBe(mintReasons.no_worker.note);

    // Another process, with the key of another network only; it has no lane here.
    const watcher = await startWorker({ keys: [] });
    await noted(ids[0], 'no_signer');
    expect(watcher.said('mint lane has no signer: what it has sent is watched')).toMatchObject([
      { signer: gone },
    ]);
    expect((await watcher.ask('/readyz')).status).toBe(503);
    await chain.call('evm_setAutomine', true);
    const mining = setup.keepMining(50);
    await untilAll(service, ids, 'minted');
    mining.stop();
    expect(await isNetworkStaffed(service.db, '31337')).toBe(false);

    // What is accepted meanwhile says so.
    const kept = await setup.accept(1);
    expect(await noteOf(kept[0])).toBe(mintReasons.no_signer.note);

    // The signer comes back, while the other still watches: it takes its lane at once.
    await startWorker({ keys: chain.keys.slice(0, 1) });
    await until('the lane is staffed', () => isNetworkStaffed(service.db, '31337'));
    const more = await setup.accept(1);
    await untilAll(service, more, 'submitted');
    expect(await setup.settle([...ids, ...kept, ...more])).toEqual([]);
    expect(other).not.toBe(gone);
  });
});

test('callers are answered by a process whose lane needs help; operators are told', async () => {
  const worker = await startOneLane({ roles: ['api', 'worker'] });
  await setup.chain.call('anvil_setBalance', setup.signers[0], '0x1');
  const ids = await setup.accept(1);
  await until('the operators know', async () => (await worker.ask('/readyz')).status === 503);
  expect(await (await worker.ask('/readyz')).json()).toMatchObject({ checks: { minting: 'failing' } });
  const forCallers = await worker.call('/readyz');
  expect([forCallers.status, await forCallers.json()]).toEqual([
    200,
    { status: 'ready', checks: { database: 'ok', jobs: 'ok', networks: 'ok', secrets: 'ok' } },
  ]);
  expect(worker.said('readiness check failed')[0]).toMatchObject({
    err: { message: expect.stringContaining('balance_too_low') },
  });
  await setup.chain.call('anvil_setBalance', setup.signers[0], '0x56bc75e2d63100000');
  expect(await setup.settle(ids)).toEqual([]);
});
