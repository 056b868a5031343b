import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { tokenRangeOf } from '../../src/rwa/assets/token-id.ts';
import { findDueRefresh } from '../../src/rwa/mint-worker/stores/refresh-store.ts';
import { findCompanyLimits } from '../../src/rwa/operators/company-limit-store.ts';
import { addRwa } from '../rwa/samples.ts';
import { deploy } from '../support/deploy.ts';
import { until, untilAll } from '../support/minting.ts';
import { startNode } from '../support/node/node.ts';
import { compileContracts } from '../support/solidity.ts';
import { useKey } from './fault-kinds.ts';
import { plenty } from './fault-scene.ts';
import { createMintSetup, type MintSetup } from './mint-setup.ts';

let setup: MintSetup;
/** Minted NFTs of one RWA. */
let ids: string[];
let rwa: { id: string; range: { from: string; to: string } };

// So long that only `elapse` ends it.
const quiet = { MINT_REFRESH_SECONDS: '3600' };

async function begin(): Promise<void> {
  setup = await createMintSetup();
  await setup.work(undefined, quiet).until(/working/);
  ids = await mint(2);
  const [{ id, number }] = await setup.service.db('rwas');
  rwa = { id, range: tokenRangeOf(BigInt(number)) };
}

async function mint(count: number): Promise<string[]> {
  const accepted = await setup.accept(count);
  const mining = setup.keepMining();
  await untilAll(setup.service, accepted, 'minted');
  mining.stop();
  return accepted;
}

const acme = () => setup.service.as(setup.service.keys.acme);
// `npm run faults` tries every step; the other runs the one with the widest window.
const isEveryStep = process.env['FAULTS'] === 'all';
const steps = ['signed', 'stored', 'sent', 'mined', 'confirming'] as const;

let changes = 0;
async function change(id = rwa.id): Promise<void> {
  changes += 1;
  await acme()
    .patch(`/v1/api/rwa/${id}`)
    .send({ description: `Change ${changes}` })
    .expect(200);
}

/** As if the quiet period were over. */
const elapse = () =>
  setup.service
    .db('rwas')
    .whereNotNull('metadata_changed_at')
    .update({ metadata_changed_at: setup.service.db.raw("now() - interval '2 hours'") });

const due = (): Promise<string[]> => setup.service.db('rwas').whereNotNull('metadata_changed_at').pluck('id');
const reports = () => setup.service.db('mint_transactions').whereNotNull('rwa_id').orderBy('created_at');
const attempts = () =>
  setup.service
    .db('mint_attempts as a')
    .join('mint_transactions as t', 't.id', 'a.transaction_id')
    .whereNotNull('t.rwa_id')
    .orderBy('a.number');
const ranges = async () => (await setup.chain.refreshes()).map(({ from, to }) => ({ from, to }));
const untilReports = (count: number) =>
  until(`${count} reports`, async () => (await reports()).length === count);
const untilRanges = (count: number) =>
  until(`${count} events`, async () => {
    await setup.chain.mine();
    return (await ranges()).length === count;
  });

/** Replaces the worker by one that begins anew. */
async function startAgain(): Promise<void> {
  await setup.killAll();
  await setup.work(undefined, quiet).until(/working/);
}

/** Gives the contract the code of another one. @returns how it gets its own back */
async function behaveAs(code: string): Promise<() => Promise<void>> {
  const { call, contract } = setup.chain;
  const own = await call('eth_getCode', contract, 'latest');
  await call('anvil_setCode', contract, code);
  return async () => void (await call('anvil_setCode', contract, own));
}

describe('changed metadata', () => {
  beforeEach(begin);
  afterEach(() => setup.close());

  test('are reported once after a quiet period, whoever changed them, with the range of that RWA', async () => {
    const { service, cli } = setup;
    const [nftId = ''] = ids;
    for (let round = 1; round <= 3; round += 1) {
      await change();
      await acme()
        .patch(`/v1/api/rwa/${rwa.id}`)
        .send({ imageUrl: `https://images.example/${round}` });
      const attributes = [{ trait_type: 'Bottle', value: `${round}` }];
      await acme().patch(`/v1/api/nft/${nftId}`).send({ attributes }).expect(200);
    }
    expect((await cli.json('rwa', 'update', rwa.id, '--type', 'gin')).status).toBe(0);
    // Each mint takes a poll at least, in which the report would be sent.
    ids.push(...(await mint(1)));
    expect([await due(), await reports()]).toEqual([[rwa.id], []]);
    await elapse();
    await untilRanges(1);
    ids.push(...(await mint(1)));
    expect(await ranges()).toEqual([rwa.range]);
    expect(await due()).toEqual([]);
    expect((await service.db('mint_lanes').first()).pause_reason).toBeNull();
    expect(await setup.settle(ids)).toEqual([]);
    expect(await reports()).toMatchObject([{ rwa_id: rwa.id, state: 'finalized' }]);
  });

  test('of one company are not those of another on the same contract, and count to its gas', async () => {
    const { chain, service } = setup;
    const theirs = await addRwa(service.db, service.companies.globex, {
      contractAddress: chain.contract,
      isClaimable: true,
    });
    const path = `/v1/api/rwa/${theirs.id}/mint`;
    const { body } = await service.as(service.keys.globex).post(path).send({}).expect(200);
    ids.push(body.nftId, ...(await mint(1)));
    const spent = async (company: 'acme' | 'globex') => {
      const { gas } = await findCompanyLimits(service.db, service.companies[company]);
      return gas.reduce((sum, { today }) => sum + BigInt(today), 0n);
    };
    expect(await setup.settle(ids)).toEqual([]);
    const before = { acme: await spent('acme'), globex: await spent('globex') };
    await change();
    await elapse();
    await untilRanges(1);
    expect(await setup.settle(ids)).toEqual([]);
    const [{ cost }] = await reports();
    expect(await spent('acme')).toBe(before.acme + BigInt(cost));
    expect(await spent('globex')).toBe(before.globex);
    expect(await ranges()).toEqual([rwa.range]);
  });

  test('wait while the signer cannot pay, which pauses nothing', async () => {
    const { chain, service, signers } = setup;
    const node = await startNode(chain.rpcUrl);
    onTestFinished(() => node.close());
    await service.db('networks').update({ rpc_urls: [node.url] });
    await startAgain();
    await chain.call('anvil_setBalance', signers[0], '0x1');
    await change();
    await elapse();
    await until('estimates', async () => node.count('eth_estimateGas') >= 2);
    expect([await due(), await reports()]).toEqual([[rwa.id], []]);
    expect((await service.db('mint_lanes').first()).pause_reason).toBeNull();
    await chain.call('anvil_setBalance', signers[0], plenty);
    await untilRanges(1);
    expect(await setup.settle(ids)).toEqual([]);
  });
});

// What a worker would take up, which none has to do.
describe('changes of metadata', () => {
  beforeAll(begin);
  beforeEach(async () => {
    await setup.service.db('rwas').update({ metadata_changed_at: null });
  });
  afterAll(() => setup.close());

  test.each([
    ['PATCH /rwa', () => change()],
    [
      'PATCH /nft',
      () => acme().patch(`/v1/api/nft/${ids[0]}`).send({ imageUrl: 'https://images.example/x' }).expect(200),
    ],
    ['tallystick rwa update', () => setup.cli.json('rwa', 'update', rwa.id, '--name', 'Cask 18')],
  ])('of %s alone are due', async (_name, act) => {
    await act();
    expect(await due()).toEqual([rwa.id]);
  });

  test('wait while the budget of the company is used up', async () => {
    const { chain, service, signers } = setup;
    const budget = { company_id: service.companies.acme, chain_id: chain.chainId, wei_per_day: 1 };
    await service.db('company_gas_budgets').insert(budget);
    await setup.killAll();
    await change();
    await elapse();
    const lane = { chainId: chain.chainId, signer: String(signers[0]) };
    const find = () => findDueRefresh(service.db, lane, { seconds: 3_600, excludedContracts: [] });
    expect(await find()).toBeUndefined();
    await service.db('company_gas_budgets').update({ wei_per_day: BigInt(plenty).toString() });
    expect(await find()).toMatchObject({ rwaId: rwa.id });
  });

  test('are not due where no token shows the change', async () => {
    const { service } = setup;
    const { name } = await service.db('rwas').where({ id: rwa.id }).first();
    await acme()
      .patch(`/v1/api/rwa/${rwa.id}`)
      .send({ price: '7.00', currency: 'EUR', data: { a: 1 } })
      .expect(200);
    await acme().patch(`/v1/api/rwa/${rwa.id}`).send({ name, archived: true }).expect(200);
    await acme()
      .patch(`/v1/api/nft/${ids[0]}`)
      .send({ data: { cellar: 4 } })
      .expect(200);
    // Nobody has read metadata of an RWA whose NFTs are not minted.
    const contractAddress = setup.chain.contract;
    const other = await addRwa(service.db, service.companies.acme, { contractAddress, isClaimable: true });
    const { body } = await acme().post(`/v1/api/rwa/${other.id}/nfts`).send({ count: 1 }).expect(200);
    await acme().patch(`/v1/api/nft/${body.nfts[0].id}`).send({ imageUrl: 'https://images.example/x' });
    await change(other.id);
    expect(await due()).toEqual([]);
  });
});

describe('a report', () => {
  beforeEach(begin);
  afterEach(() => setup.close());

  test('that is under way is not that of a change that comes later', async () => {
    await setup.chain.call('evm_setAutomine', false);
    await change();
    await elapse();
    await untilReports(1);
    expect(await due()).toEqual([]);
    await change();
    await elapse();
    ids.push(...(await setup.accept(1)));
    await untilAll(setup.service, ids.slice(-1), 'submitted');
    expect([await due(), (await reports()).length]).toEqual([[rwa.id], 1]);
    await untilRanges(2);
    expect(await setup.settle(ids)).toEqual([]);
    expect(await reports()).toHaveLength(2);
  });

  test('keeps mints waiting for one transaction at most, however many RWAs have changed', async () => {
    const { chain, service } = setup;
    const contractAddress = chain.contract;
    const others = [];
    for (let count = 0; count < 3; count += 1) {
      const other = await addRwa(service.db, service.companies.acme, { contractAddress, isClaimable: true });
      const { body } = await acme().post(`/v1/api/rwa/${other.id}/mint`).send({}).expect(200);
      ids.push(body.nftId);
      others.push(other.id);
    }
    ids.push(...(await mint(1)));
    await chain.call('evm_setAutomine', false);
    for (const id of [rwa.id, ...others]) await change(id);
    await elapse();
    await untilReports(1);
    // Each takes a poll at least, and comes after the report that the poll before would have sent.
    for (let round = 0; round < 3; round += 1) {
      ids.push(...(await setup.accept(1)));
      await untilAll(service, ids.slice(-1), 'submitted');
    }
    expect(await reports()).toHaveLength(1);
    await untilRanges(4);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test.each(isEveryStep ? steps : steps.slice(1, 2))(
    'is not lost with a worker that dies having it %s',
    async (step) => {
      await setup.killAll();
      await change();
      await elapse();
      const mining = setup.keepMining();
      expect(await setup.work({ step, times: 1 }, quiet).ended).toBe('SIGKILL');
      mining.stop();
      expect(await reports()).toHaveLength(step === 'signed' ? 0 : 1);
      await setup.work(undefined, quiet).until(/working/);
      await untilRanges(1);
      expect(await setup.settle(ids)).toEqual([]);
      expect(await ranges()).toEqual([rwa.range]);
    },
  );

  test('comes again after a reorganisation without it', async () => {
    const { chain } = setup;
    await change();
    await elapse();
    await until('a block', async () => (await ranges()).length === 1);
    await chain.mine();
    await until('it is confirmed', async () => (await reports())[0]?.state === 'confirmed');
    await chain.call('evm_setAutomine', false);
    await chain.call('anvil_reorg', 2, []);
    expect(await ranges()).toEqual([]);
    await until('the row follows', async () => (await reports())[0]?.state === 'submitted');
    expect(await setup.settle(ids)).toEqual([]);
    expect(await ranges()).toEqual([rwa.range]);
    expect(await reports()).toHaveLength(1);
  });

  test('stays one when a higher price replaces it', async () => {
    const { chain } = setup;
    await setup.killAll();
    await setup.work(undefined, { ...quiet, MINT_STUCK_BLOCKS: '1' }).until(/working/);
    await chain.call('evm_setAutomine', false);
    await change();
    await elapse();
    await untilReports(1);
    await until('it is replaced', async () => {
      await chain.call('anvil_setNextBlockBaseFeePerGas', '0x174876e800');
      await chain.mine();
      return (await attempts()).length > 1;
    });
    expect(await setup.settle(ids)).toEqual([]);
    expect(await ranges()).toEqual([rwa.range]);
    const [{ mined_hash: mined }] = await reports();
    expect((await attempts()).findIndex(({ hash }) => hash === mined)).toBeGreaterThan(0);
  });

  test('whose nonce somebody else has used comes again with another', async () => {
    const { chain } = setup;
    await chain.call('evm_setAutomine', false);
    await change();
    await elapse();
    await untilReports(1);
    const [{ nonce }] = await reports();
    await useKey(setup, chain.keys[0] ?? '', Number(nonce));
    await until('it is lost', async () => {
      await chain.mine();
      return (await reports())[0]?.state === 'lost';
    });
    expect(await due()).toEqual([rwa.id]);
    await elapse();
    await untilRanges(1);
    expect(await setup.settle(ids)).toEqual([]);
    expect((await reports()).map(({ state }) => state)).toEqual(['lost', 'finalized']);
  });

  test('that is reverted counts as no failure of the contract, and is tried again only after a long rest', async () => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    await change();
    await elapse();
    await untilReports(1);
    // PUSH0 PUSH0 REVERT
    const asBefore = await behaveAs('0x5f5ffd');
    await chain.mine();
    await asBefore();
    await until('the end', async () => {
      await chain.mine();
      return (await reports())[0]?.state === 'reverted';
    });
    expect(await service.db('mint_contracts').first()).toMatchObject({ failures: 0, gas_factor: 1 });
    expect(await due()).toEqual([rwa.id]);
    await elapse();
    await chain.call('evm_setAutomine', true);
    ids.push(...(await mint(1)));
    expect(await reports()).toHaveLength(1);
    await startAgain();
    await untilRanges(1);
    expect(await setup.settle(ids)).toEqual([]);
  });
});

describe('a contract that does not let minters report', () => {
  beforeEach(begin);
  afterEach(() => setup.close());

  test('is sent nothing, mints go on, and the change is given up after a day', async () => {
    const { chain, service } = setup;
    const older = await deploy(chain.rpcUrl, (await compileContracts())['Older']);
    const asBefore = await behaveAs(await chain.call('eth_getCode', older, 'latest'));
    await change();
    await elapse();
    const [worker] = setup.running();
    await worker?.until(/does not let the signer report/);
    for (let round = 0; round < 3; round += 1) ids.push(...(await mint(1)));
    expect([await due(), await reports()]).toEqual([[rwa.id], []]);
    expect(await service.db('mint_contracts').first()).toMatchObject({ failures: 0, pause_reason: null });
    expect((await service.db('mint_lanes').first()).pause_reason).toBeNull();
    await service
      .db('rwas')
      .whereNotNull('metadata_changed_at')
      .update({ metadata_changed_at: service.db.raw("now() - interval '25 hours'") });
    await startAgain();
    await until('it is given up', async () => (await due()).length === 0);
    expect(await reports()).toEqual([]);
    await asBefore();
    await change();
    await elapse();
    await untilRanges(1);
    expect(await setup.settle(ids)).toEqual([]);
  });
});
