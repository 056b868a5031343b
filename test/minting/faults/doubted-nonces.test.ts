import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLine, settingsFor } from '../../cli/command-line.ts';
import { startChain } from '../../support/chain.ts';
import { callNode } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { of } from '../../support/node/flaw.ts';
import { startNode, type TestNode } from '../../support/node/node.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let node: TestNode;
beforeEach(async () => {
  setup = await createMintSetup();
  node = await startNode(setup.chain.rpcUrl);
  await setup.service.db('networks').update({ rpc_urls: [node.url] });
});
afterEach(async () => {
  await setup.close();
  await node.close();
});

const nonces = async () =>
  (await setup.service.db('mint_transactions').orderBy('nonce')).map(({ nonce }) => Number(nonce));
const pause = async () => (await setup.service.db('mint_lanes').first()).pause_reason;
const allFinal = () =>
  until('finality', async () => {
    const open = await setup.service.db('mint_transactions').whereIn('state', ['submitted', 'confirmed']);
    return open.length === 0;
  });

/** Another chain on which the signer has sent fifty transactions. */
async function startOther(chainId: string) {
  const other = await startChain({ chainId, flags: ['--slots-in-an-epoch', '1'] });
  const [signer] = setup.signers;
  await callNode(other.rpcUrl, 'anvil_setNonce', [signer, '0x32']);
  await callNode(other.rpcUrl, 'anvil_setBalance', [signer, '0x56bc75e2d63100000']);
  await callNode(other.rpcUrl, 'anvil_mine', ['0x64']);
  return other;
}

test.each([
  ['another chain', '77'],
  ['another chain with the same id', '31337'],
])('a node that leads to %s for a while makes no nonce jump', async (_what, chainId) => {
  const other = await startOther(chainId);
  try {
    const first = await setup.accept(1);
    const mining = setup.keepMining();
    setup.work();
    await untilAll(setup.service, first, 'minted');
    await allFinal();
    node.leadTo(other.rpcUrl);
    const ids = await setup.accept(3);
    const asked = node.count('eth_getBlockByNumber');
    for (let block = 0; block < 4; block += 1) await callNode(other.rpcUrl, 'anvil_mine', ['0x1']);
    await until('some looks', async () => node.count('eth_getBlockByNumber') > asked + 10);
    node.leadTo(setup.chain.rpcUrl);
    mining.stop();
    expect(await setup.settle([...first, ...ids])).toEqual([]);
    const used = await nonces();
    expect(used).toEqual(used.map((_, index) => index));
  } finally {
    await other.close();
  }
});

test('a gap of nonces is filled when nobody else does it, and the lane goes on by itself', async () => {
  const { chain, service, signers } = setup;
  // As a release that believed a wrong count at its first look.
  node.setFlaws(of('eth_getTransactionCount', () => ({ result: '0x5' })));
  const ids = await setup.accept(3);
  setup.work(undefined, { MINT_STUCK_BLOCKS: '3' });
  await untilAll(service, ids, 'submitted');
  expect(Math.min(...(await nonces()))).toBe(5);
  node.setFlaws();
  const mining = setup.keepMining();
  await until('the reason', async () => (await pause()) === 'nonce_gap');
  await untilAll(service, ids, 'minted', 30);
  mining.stop();
  expect((await nonces()).slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5]);
  const fillers = await service.db('mint_transactions').where('nonce', '<', 5);
  expect(fillers.map(({ contract }) => contract)).toEqual(Array.from({ length: 5 }, () => signers[0]));
  expect(await setup.settle(ids)).toEqual([]);
  await until('no pause', async () => (await pause()) === null);
  const count = await chain.call<string>('eth_getTransactionCount', signers[0], 'latest');
  expect(Number(count)).toBe((await nonces()).length);
});

describe('the first nonce of a lane', () => {
  const isFinalBlock = (at: unknown) => at !== 'latest';
  const pruned = { error: { code: -32000, message: 'missing trie node' } };

  test.each([
    ['above what is final', (at: unknown) => (isFinalBlock(at) ? undefined : { result: '0x3e8' })],
    [
      'seen once, of a node without old state',
      (at: unknown) => (isFinalBlock(at) ? pruned : { result: '0x3e8' }),
    ],
  ])('is no count that is %s', async (_what, lie) => {
    node.setFlaws(of('eth_getTransactionCount', ({ params: [, at] }) => lie(at)));
    const ids = await setup.accept(3);
    setup.work();
    await until('the doubt', async () => (await pause()) === 'foreign_nonce');
    node.setFlaws();
    expect(await setup.settle(ids)).toEqual([]);
    expect(Math.min(...(await nonces()))).toBe(0);
  });

  test('of a used key is told at once where the count is final', async () => {
    const { chain, service, signers } = setup;
    await chain.call('anvil_setNonce', signers[0], '0x7');
    await chain.mine(5);
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work();
    await untilAll(service, ids, 'submitted');
    expect(Math.min(...(await nonces()))).toBe(7);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('of a used key waits for finality where the node keeps no old state', async () => {
    const { chain, service, signers } = setup;
    await chain.call('anvil_setNonce', signers[0], '0x7');
    await chain.mine();
    await chain.call('evm_setAutomine', false);
    node.setFlaws(
      of('eth_getTransactionCount', ({ params: [, at] }) => (isFinalBlock(at) ? pruned : undefined)),
    );
    const ids = await setup.accept(2);
    setup.work();
    await until('the doubt', async () => (await pause()) === 'foreign_nonce');
    await chain.mine(3);
    await untilAll(service, ids, 'submitted');
    node.setFlaws();
    expect(Math.min(...(await nonces()))).toBe(7);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('that leaves a wide gap is not paid for, unless an operator asks', async () => {
    const { chain, service, signers } = setup;
    node.setFlaws(of('eth_getTransactionCount', () => ({ result: `0x${(2n ** 40n).toString(16)}` })));
    const ids = await setup.accept(3);
    setup.work(undefined, { MINT_STUCK_BLOCKS: '1', MINT_MAX_IN_FLIGHT: '4' });
    await untilAll(service, ids, 'submitted');
    node.setFlaws();
    const fills = async () => (await service.db('mint_transactions').where({ contract: signers[0] })).length;
    const look = async () => {
      const looks = node.count('eth_getTransactionCount');
      await chain.mine();
      // A poll at a new block asks three times.
      await until('a look', async () => node.count('eth_getTransactionCount') > looks + 2);
    };
    for (let block = 0; block < 6; block += 1) await look();
    expect(await fills()).toBe(0);
    const { pause_reason: reason, pause_detail: detail } = await service.db('mint_lanes').first();
    expect(reason).toBe('nonce_gap');
    expect(detail).toContain(`4 each time: tallystick mint fill-gap --chain 31337 --signer ${signers[0]}`);
    const cli = commandLine(settingsFor(service.databaseUrl));
    expect(await cli.json('mint', 'fill-gap', '--chain', '31337')).toMatchObject({ status: 0 });
    const entry = await service.db('audit_log').orderBy('id', 'desc').first();
    expect(entry).toMatchObject({
      action: 'mint.fill_gap',
      subject: '31337',
      details: { signer: signers[0] },
    });
    await until('the fills', async () => (await fills()) === 4);
    for (let block = 0; block < 6; block += 1) await look();
    expect(await fills()).toBe(4);
  });
});
