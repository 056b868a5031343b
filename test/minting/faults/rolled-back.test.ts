import { JsonRpcProvider, Wallet } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findStanding } from '../../../src/rwa/minting/lane-status-store.ts';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll, untilInPool } from '../../support/minting.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const lane = () => setup.service.db('mint_lanes').first();
const states = async () =>
  (await setup.service.db('mint_transactions').orderBy('nonce')).map(({ state }) => state);

test('a chain that has lost final blocks pauses its network; a recovery sends again what it lost', async () => {
  const { chain, service } = setup;
  setup.work();
  const ids = await setup.accept(3);
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted');
  await until('finality', async () => (await states()).every((state) => state === 'finalized'));
  // One more poll, which stores what is final.
  const more = await setup.accept(1);
  await untilAll(service, more, 'minted');
  mining.stop();
  await chain.mine(5);
  await until('finality', async () => (await states()).every((state) => state === 'finalized'));
  const { number, hash } = await service.db('network_finality').first();
  const first = Math.min(...(await service.db('nfts').pluck('minted_block')).map(Number));
  const head = Number(await chain.call<string>('eth_blockNumber'));
  await chain.call('anvil_reorg', head - first + 1, []);
  expect((await chain.mints()).size).toBe(0);

  const later = await setup.accept(1);
  await until('the pause', async () => (await lane()).pause_reason === 'chain_rolled_back');
  const { pause_detail: detail } = await lane();
  const present = await chain.call<{ hash: string }>(
    'eth_getBlockByNumber',
    `0x${Number(number).toString(16)}`,
    false,
  );
  expect(detail).toContain(hash);
  expect(detail).toContain(present.hash);
  expect((await findStanding(service.db)).message).toContain('chain_rolled_back');
  expect((await chain.mints()).size).toBe(0);

  const raw = await service.db('mint_attempts').pluck('hash');
  // As of an RWA that was made now.
  await service.db('rwas').update({ final_block: number });
  const dry = await setup.cli.json('recover');
  const applied = await setup.cli.json('recover', '--apply');
  expect(applied).toMatchObject({ status: 0, value: { waiting: 0 } });
  const { found, wouldFix, left } = dry.value;
  expect({ found, fixed: wouldFix, left }).toEqual({
    found: applied.value.found,
    fixed: applied.value.fixed,
    left: applied.value.left,
  });
  expect((await service.db('rwas').first()).final_block).toBe('0');
  expect(await setup.settle([...ids, ...more, ...later])).toEqual([]);
  // By the stored bytes.
  const sent = [...(await chain.mints()).values()].flat().map((mint) => mint.hash);
  expect(sent.filter((each) => raw.includes(each)).length).toBeGreaterThanOrEqual(ids.length + more.length);
});

const head = async () => Number(await setup.chain.call<string>('eth_blockNumber'));
const codeOf = (contract: string) => setup.chain.call<string>('eth_getCode', contract, 'latest');
const setCode = (code: string) => setup.chain.call('anvil_setCode', setup.chain.contract, code);
const row = (id: string | undefined) => setup.service.db('nfts').where({ id }).first();
const allFinal = () =>
  until('finality', async () =>
    (await states()).every((state) => state !== 'submitted' && state !== 'confirmed'),
  );
/** Removes the block with this number and those above it, with all that was in them. */
const loseBlocksFrom = async (number: number) =>
  setup.chain.call('anvil_reorg', (await head()) - number + 1, []);
const firstBlock = async () =>
  Math.min(...(await setup.service.db('mint_transactions').pluck('block_number')).map(Number));

describe('a rollback that begins at the block of the last mint', () => {
  /** Mints and makes that final, one block at a time, so that the final block comes to be just that of the mint. */
  const mintFinally = async (): Promise<string[]> => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(2);
    setup.work();
    await untilAll(service, ids, 'submitted');
    const polled = async () => BigInt((await service.db('network_finality').first())?.number ?? -1);
    while (!(await states()).every((state) => state === 'finalized')) {
      const before = await polled();
      await chain.mine();
      await until('a poll', async () => (await polled()) > before || (await states()).includes('finalized'));
    }
    return ids;
  };

  test('pauses the network: what is final was stored as final before', async () => {
    const { service } = setup;
    const ids = await mintFinally();
    const minted = Number((await row(ids[0])).minted_block);
    expect(Number((await service.db('network_finality').first()).number)).toBeGreaterThanOrEqual(minted);
    await loseBlocksFrom(minted);
    await setup.chain.mine(3);
    const later = await setup.accept(1);
    await until('the pause', async () => (await lane()).pause_reason === 'chain_rolled_back');
    expect(await setup.recover()).toBe(true);
    expect(await setup.settle([...ids, ...later])).toEqual([]);
  });

  test('pauses the network also where a lower block was stored as final: the nonces of the signer show it', async () => {
    const { chain, service } = setup;
    const ids = await mintFinally();
    await setup.killAll();
    const minted = Number((await row(ids[0])).minted_block);
    // As a release leaves it that finalizes what is not stored as final yet.
    const { hash } = await chain.call<{ hash: string }>(
      'eth_getBlockByNumber',
      `0x${(minted - 1).toString(16)}`,
      false,
    );
    await service.db('network_finality').update({ number: minted - 1, hash });
    await loseBlocksFrom(minted);
    await chain.mine(3);
    const later = await setup.accept(1);
    setup.work();
    await until('the pause', async () => (await lane()).pause_reason === 'chain_rolled_back');
    expect((await lane()).pause_detail).toContain('nonce 0');
    expect(await service.db('mint_transactions')).toHaveLength(1);
    expect(await setup.recover()).toBe(true);
    expect(await setup.settle([...ids, ...later])).toEqual([]);
  });
});

describe('a mint that had ended before the chain was rolled back', () => {
  /** A mint that failed in its transactions, which are final; then the contract is as it should be. */
  const failOne = async (): Promise<{ failed: string; code: string }> => {
    const { chain, service } = setup;
    const code = await codeOf(chain.contract);
    await setCode(await codeOf(await deploy(chain.rpcUrl, (await compileContracts())['Idle'])));
    await chain.mine(5);
    const [failed = ''] = await setup.accept(1);
    setup.work();
    const mining = setup.keepMining();
    await untilAll(service, [failed], 'failed', 60);
    await allFinal();
    mining.stop();
    await setCode(code);
    return { failed, code };
  };
  const cancel = async (id: string) =>
    expect(await setup.cli.json('mint', 'cancel', id)).toMatchObject({ status: 0 });
  /** Takes the chain back to before all transactions. */
  const rollBack = async (code: string) => {
    const { chain } = setup;
    await chain.mine(5);
    await until('more that is final', async () => {
      const { number } = await setup.service.db('network_finality').first();
      return Number(number) > (await firstBlock());
    });
    await setup.killAll();
    await loseBlocksFrom(await firstBlock());
    await setCode(code);
    await chain.mine(5);
    await chain.call('evm_setAutomine', false);
  };

  test.each(['cancelled', 'failed'] as const)('and was %s is not made by the stored bytes', async (how) => {
    const { chain, service } = setup;
    const { failed, code } = await failOne();
    if (how === 'cancelled') await cancel(failed);
    const others = await setup.accept(2);
    const mining = setup.keepMining();
    await untilAll(service, others, 'minted');
    await allFinal();
    mining.stop();
    const { mint_error: reason, token_id: tokenId } = await row(failed);
    const nonces = (await states()).length;
    await rollBack(code);

    const dry = await setup.cli.json('recover');
    expect.soft(dry).toMatchObject({ status: 1, value: { wouldReopen: nonces } });
    expect(new Set(await states())).toEqual(new Set(['finalized']));
    const applied = await setup.cli.json('recover', '--apply');
    expect.soft(applied).toMatchObject({ status: 0, value: { reopened: nonces } });
    const { rows: notes } = await service.db.raw('SELECT nft_id, reason FROM mint_notes');
    expect.soft(notes).toEqual([{ nft_id: failed, reason: 'left_out' }]);

    const more = await setup.accept(1);
    // The bytes without it outbid the stored ones, whatever the market is like.
    expect(await setup.settle([...others, ...more], { isConductJudged: false })).toEqual([]);
    expect([...(await chain.mints()).keys()]).not.toContain(tokenId);
    expect(await row(failed)).toMatchObject(
      how === 'cancelled'
        ? { mint_state: 'unclaimed', recipient: null, mint_error: null }
        : { mint_state: 'failed', mint_error: reason },
    );
    expect(await service.db('mint_notes')).toEqual([]);
  });

  test('is minted all the same by bytes that a node has kept: then its row follows the chain', async () => {
    const { chain, service } = setup;
    const { failed, code } = await failOne();
    await cancel(failed);
    const attempts = await service.db('mint_attempts').orderBy('created_at');
    const { recipient } = await service.db('mint_transaction_nfts').where({ nft_id: failed }).first();
    await rollBack(code);
    const { value } = await setup.cli.json('recover', '--apply');
    expect.soft(value).toMatchObject({ reopened: attempts.length });
    for (const { raw } of attempts) await chain.call('eth_sendRawTransaction', `0x${raw.toString('hex')}`);
    await chain.mine();
    expect(await setup.settle([failed])).toEqual([]);
    expect(await row(failed)).toMatchObject({ mint_state: 'minted', recipient, minted_tx: attempts[0].hash });
  });
});

describe('on the chain that is there after a rollback,', () => {
  test('another transaction has the nonce of a confirmed mint: it is minted with the next one', async () => {
    const { chain, service } = setup;
    await service.db('networks').update({ confirmations: 1 });
    await chain.mine(5);
    await chain.call('evm_setAutomine', false);
    const [id = ''] = await setup.accept(1);
    setup.work();
    await untilAll(service, [id], 'submitted');
    await untilInPool(chain);
    await chain.mine();
    await untilAll(service, [id], 'minted');
    expect(await states()).toEqual(['confirmed']);
    await setup.killAll();
    await loseBlocksFrom(Number((await service.db('network_finality').first()).number));
    await chain.call('anvil_dropAllTransactions');
    const provider = new JsonRpcProvider(chain.rpcUrl);
    const wallet = new Wallet(chain.keys[0] ?? '', provider);
    await wallet.sendTransaction({ to: wallet.address, nonce: 0 });
    provider.destroy();
    await chain.mine(8);
    await chain.call('evm_setAutomine', true);
    const applied = await setup.cli.json('recover', '--apply');
    expect(applied).toMatchObject({ status: 0, value: { found: 1, reopened: 0, waiting: 0 } });
    expect(await setup.settle([id], { isConductJudged: false })).toEqual([]);
  });

  test('somebody else mints a token once more that was taken before: dry run and --apply find the same', async () => {
    const { chain, service } = setup;
    const thief = Wallet.createRandom().address;
    await chain.mine(5);
    const [taken = ''] = await setup.accept(1);
    const { token_id: tokenId } = await row(taken);
    const first = (await head()) + 1;
    await chain.mintByHand(thief, tokenId);
    setup.work();
    const mining = setup.keepMining();
    await untilAll(service, [taken], 'failed', 60);
    const others = await setup.accept(1);
    await untilAll(service, others, 'minted');
    await allFinal();
    mining.stop();
    const { mint_error: reason } = await row(taken);
    await setup.killAll();
    await loseBlocksFrom(first);
    await chain.call('anvil_dropAllTransactions');
    await chain.mintByHand(thief, tokenId);
    await chain.mine(30);
    const dry = await setup.cli.json('recover');
    const applied = await setup.cli.json('recover', '--apply');
    const { found, wouldFix, wouldReopen, left } = dry.value;
    expect(applied.value).toMatchObject({ found, fixed: wouldFix, reopened: wouldReopen, left, waiting: 0 });
    expect(await setup.settle(others, { isConductJudged: false })).toEqual([]);
    await until('its end', async () => (await row(taken)).mint_state === 'failed');
    expect((await row(taken)).mint_error).toContain(thief);
    expect(reason).toContain(thief);
  });
});
