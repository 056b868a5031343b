import { getAddress, toBeHex } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findStanding } from '../../../src/rwa/minting/lane-status-store.ts';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { type Flaw, failure, fieldOf, of, quantityOf, resultOf } from '../../support/node/flaw.ts';
import { finalUpTo } from '../../support/node/limits.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
/** The code of our own contract. */
let tallystick: string;
beforeEach(async () => {
  setup = await createMintSetup();
  tallystick = await setup.chain.call('eth_getCode', setup.chain.contract, 'latest');
});
afterEach(() => setup.close());

const become = async (name: string) => {
  const { chain } = setup;
  const other = await deploy(chain.rpcUrl, (await compileContracts())[name]);
  await chain.call('anvil_setCode', chain.contract, await chain.call('eth_getCode', other, 'latest'));
  await chain.mine(5);
};
const lane = () => setup.service.db('mint_lanes').first();
const sent = () => setup.service.db('mint_transactions').orderBy('nonce');
const states = (ids: readonly string[]) =>
  setup.service
    .db('nfts')
    .whereIn('id', [...ids])
    .distinct()
    .pluck('mint_state');
/** Accepts a mint to this recipient. */
async function acceptTo(recipient: string): Promise<string> {
  const { service } = setup;
  const [{ id }] = await service.db('rwas').orderBy('created_at', 'desc');
  const { body } = await service
    .as(service.keys.acme)
    .post(`/v1/api/rwa/${id}/mint`)
    .send({ recipient })
    .expect(200);
  return body.nftId;
}

const estimating = (change: (gas: bigint) => bigint): Flaw =>
  of(['eth_estimateGas'], async (call, pass) => {
    const reply = await pass(call);
    const gas = quantityOf(resultOf(reply));
    return gas === undefined ? reply : { result: toBeHex(change(gas)) };
  });

test('N5: a contract whose estimates are a third too low gets twice the gas, and that is no attempt', async () => {
  const { node } = setup;
  await become('Hungry');
  node.setFlaws(estimating((gas) => (gas * 2n) / 3n));
  const ids = await setup.accept(20);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(setup.service, ids, 'minted', 60);
  mining.stop();
  const all = await sent();
  expect(all.filter(({ state, out_of_gas: isOut }) => (state === 'reverted') !== isOut)).toEqual([]);
  expect(all.some(({ out_of_gas: isOut }) => isOut)).toBe(true);
  expect(all.length).toBeLessThan(8);
  expect(await setup.settle(ids)).toEqual([]);
});

const factorOf = async () => (await setup.service.db('mint_contracts').first()).gas_factor;

test('several transactions in flight that run out of gas double the gas once', async () => {
  const { chain, node, service } = setup;
  await become('Hungry');
  await chain.call('evm_setAutomine', false);
  node.setFlaws(estimating((gas) => (gas * 2n) / 3n));
  const ids = await setup.accept(12);
  setup.work(undefined, { MINT_BLOCK_SHARE_PERCENT: '1' });
  await until('several', async () => (await sent()).length >= 3);
  const first = (await sent()).map(({ id }) => id);
  const mining = setup.keepMining();
  const ended = () => service.db('mint_transactions').whereIn('id', first).where({ out_of_gas: true });
  await until('their ends', async () => (await ended()).length >= 2, 60);
  expect(await factorOf()).toBe(2);
  await untilAll(service, ids, 'minted', 60);
  mining.stop();
  expect(await factorOf()).toBeLessThanOrEqual(2);
  expect(await setup.settle(ids)).toEqual([]);
});

test('each transaction that uses less than half of its gas halves the gas of the next, down to the estimate', async () => {
  const { service } = setup;
  const ids = await setup.accept(1);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted');
  await service.db('mint_contracts').update({ gas_factor: 8 });
  for (const factor of [4, 2, 1, 1]) {
    const more = await setup.accept(1);
    await untilAll(service, more, 'minted');
    expect(await factorOf()).toBe(factor);
    ids.push(...more);
  }
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
});

test('a mint that no longer fits is told with its gas, the share and the limit', async () => {
  const { service } = setup;
  const ids = await setup.accept(1);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted');
  mining.stop();
  await setup.killAll();
  await service.db('mint_contracts').update({ gas_factor: 16 });
  ids.push(...(await setup.accept(1)));
  setup.work(undefined, { MINT_BLOCK_SHARE_PERCENT: '1' });
  const pause = () => service.db('mint_contracts').first();
  await until('the reason', async () => (await pause()).pause_reason === 'contract_refuses');
  expect((await pause()).pause_detail).toMatch(
    /needs \d+ gas, 16 times what estimates say\. .*300000: MINT_BLOCK_SHARE_PERCENT \(1\) of the block's limit of 30000000/,
  );
  await service.db('mint_contracts').update({ gas_factor: 1 });
  expect(await setup.settle(ids)).toEqual([]);
});

test('N9: a recipient that refuses only in a block fails alone; the others cost few transactions', async () => {
  const { node } = setup;
  await become('Picky');
  const neverRefuses = of(['eth_estimateGas'], async (call, pass) => {
    const reply = await pass(call);
    return resultOf(reply) === undefined ? { result: '0xf4240' } : reply;
  });
  node.setFlaws(neverRefuses);
  const others = await setup.accept(10);
  const refused = await acceptTo('0x00000000000000000000000000000000DeaDBeef');
  const more = await setup.accept(10);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(setup.service, [...others, ...more], 'minted', 60);
  await untilAll(setup.service, [refused], 'failed', 60);
  mining.stop();
  expect((await sent()).length).toBeLessThan(14);
  expect(await setup.settle([...others, ...more])).toEqual([]);
});

test.for([
  ['with', []],
  ['without', [of(['eth_getTransactionReceipt'], () => ({ result: null }))]],
] as const)(
  'N9: a contract that mints nothing gets a few transactions, then one in an hour, %s receipts',
  async ([_how, flaws]) => {
    const { chain, node, service } = setup;
    node.setFlaws(...flaws);
    await become('Idle');
    const ids = await setup.accept(40);
    setup.work();
    const mining = setup.keepMining();
    const paused = () => service.db('mint_contracts').where({ pause_reason: 'contract_refuses' });
    await until('the pause', async () => /minted nothing/.test((await paused())[0]?.pause_detail ?? ''), 60);
    // It is no matter of the lane.
    expect((await lane()).pause_reason).toBeNull();
    expect(await findStanding(service.db)).toEqual({ isAll: false });
    await until('their ends', async () => (await sent()).every(({ state }) => state === 'finalized'));
    // Halves of what failed are tried side by side.
    const { length } = await sent();
    expect(length).toBeGreaterThanOrEqual(5);
    expect(length).toBeLessThan(10);
    await until('the end of all', async () => (await states(ids)).join() === 'queued');
    const probes = async () => (await sent()).length - length;
    // A worker that dies before the transaction is stored has not taken the one of the hour.
    await setup.killAll();
    const resumed = await setup.cli.json('mint', 'resume', '--contract', chain.contract);
    expect(resumed).toMatchObject({ status: 0, value: { contract: chain.contract, chainIds: ['31337'] } });
    await setup.work({ step: 'signed', times: 1 }).ended;
    setup.work();
    await until('a probe', async () => (await probes()) === 1);
    await until('its end', async () => (await sent()).every(({ state }) => state === 'finalized'));
    await chain.call('anvil_setCode', chain.contract, tallystick);
    expect(await probes()).toBe(1);
    expect(await setup.cli.json('contract', 'status', '31337')).toMatchObject({ status: 0 });
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  },
);

test('what a contract did not mint waits until that is final, however long that takes, and is no alarm', async () => {
  const { chain, node } = setup;
  await become('Idle');
  const { number } = await chain.call<{ number: string }>('eth_getBlockByNumber', 'finalized', false);
  node.setFlaws(finalUpTo(BigInt(number)));
  const ids = await setup.accept(2);
  const worker = setup.work();
  const mining = setup.keepMining(50);
  await untilAll(setup.service, ids, 'submitted');
  const head = async () => Number(await chain.call<string>('eth_blockNumber'));
  const sentAt = await head();
  await until('many more blocks', async () => (await head()) > sentAt + 250, 30);
  expect(worker.output()).not.toContain('unexplained');
  expect(await setup.service.db('mint_notes')).toEqual([]);
  mining.stop();
  node.setFlaws();
  await chain.call('anvil_setCode', chain.contract, tallystick);
  expect(await setup.settle(ids)).toEqual([]);
});

test('N12: too little funds at the estimate are told as that, and minting goes on soon with more', async () => {
  const { chain, node, signers } = setup;
  const gwei = 1_000_000_000n;
  await chain.call('evm_setAutomine', false);
  chain.market.hold(gwei);
  await chain.mine(3);
  /** As geth: at a price the funds are looked at first. The contract costs five times what ours does. */
  const dear = of(['eth_estimateGas'], async (call, pass) => {
    const [asked] = call.params;
    const price = quantityOf(fieldOf(asked, 'maxFeePerGas')) ?? 0n;
    const gas =
      5n *
      (quantityOf(
        resultOf(
          await pass({
            ...call,
            params: [{ ...(asked as object), maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }],
          }),
        ),
      ) ?? 0n);
    const balance = BigInt(await chain.call<string>('eth_getBalance', signers[0], 'latest'));
    return balance < gas * price
      ? failure(-32000, 'insufficient funds for gas * price + value')
      : { result: toBeHex(gas) };
  });
  node.setFlaws(dear);
  await chain.call('anvil_setBalance', signers[0], toBeHex(200_000n * 3n * gwei));
  const ids = await setup.accept(2);
  setup.work();
  const mining = setup.keepMining();
  // The contract alone waits: a usual mint could be paid.
  await until('the reason', async () =>
    /wei, too little for that/.test((await setup.service.db('mint_contracts').first())?.pause_detail ?? ''),
  );
  await chain.call('anvil_setBalance', signers[0], '0x56bc75e2d63100000');
  await untilAll(setup.service, ids, 'submitted', 5);
  mining.stop();
  expect(await setup.settle(ids)).toEqual([]);
});

describe('N13: recipients that the contract refuses', () => {
  test('cost a few estimates each, and hold nobody up', async () => {
    const { node, service } = setup;
    await become('Picky');
    const count = 100;
    const refused: string[] = [];
    const others = await setup.accept(2);
    for (let index = 1; index <= count; index += 1) {
      refused.push(await acceptTo(getAddress(`0xbad0${index.toString(16).padStart(36, '0')}`)));
    }
    node.questions.forget();
    setup.work();
    const mining = setup.keepMining();
    await untilAll(service, others, 'minted', 60);
    await untilAll(service, refused, 'failed', 60);
    mining.stop();
    expect(node.questions.byMethod().get('eth_estimateGas')).toBeLessThan(4 * count);
    expect(await setup.settle(others)).toEqual([]);
  });

  test('are remembered: by another worker, by the next NFT for them, and until the contract takes them', async () => {
    const { chain, node, service } = setup;
    await become('Picky');
    const count = 30;
    const refused: string[] = [];
    const bad = (index: number) => getAddress(`0xbad0${index.toString(16).padStart(36, '0')}`);
    const others = await setup.accept(2);
    for (let index = 1; index <= count; index += 1) refused.push(await acceptTo(bad(index)));
    const estimates = () => node.questions.byMethod().get('eth_estimateGas') ?? 0;
    const known = () => service.db('mint_refusals');
    setup.work();
    await until('all are known', async () => (await known()).length === count);
    await setup.killAll();
    node.questions.forget();
    setup.work();
    const mining = setup.keepMining();
    await untilAll(service, refused, 'failed', 60);
    await untilAll(service, others, 'minted', 60);
    // Each is asked about once, and now and then whether the contract mints to others.
    expect(estimates()).toBeLessThan(2 * count);

    node.questions.forget();
    const again = await acceptTo(bad(1));
    const more = await setup.accept(2);
    await untilAll(service, [again], 'failed', 60);
    await untilAll(service, more, 'minted', 60);
    expect(estimates()).toBeLessThan(10);

    await chain.call('anvil_setCode', chain.contract, tallystick);
    const taken = await acceptTo(bad(1));
    await untilAll(service, [taken], 'minted', 60);
    mining.stop();
    expect(await known().where({ recipient: bad(1) })).toEqual([]);
    expect(await setup.settle([...others, ...more, taken])).toEqual([]);
  });
});
