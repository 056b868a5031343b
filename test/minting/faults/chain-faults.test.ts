import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
  await setup.work().until(/working/);
});
afterEach(() => setup.close());

const stateOf = async (id = '') => (await setup.service.db('nfts').where({ id }).first()).mint_state;

describe('a reorganisation', () => {
  test('deeper than the confirmations takes minted rows back, all three fields together, and counts them again', async () => {
    const { chain, service } = setup;
    const [first = ''] = await setup.accept(1);
    await untilAll(service, [first], 'submitted');
    await until('a block', async () => (await chain.mints()).size === 1);
    await chain.mine();
    await untilAll(service, [first], 'minted');
    // Nothing is mined on its own from here: what the row says in between can be seen.
    await chain.call('evm_setAutomine', false);
    await chain.call('anvil_reorg', 2, []);
    await until('the row follows', async () => (await stateOf(first)) === 'submitted');
    const row = await service.db('nfts').where({ id: first }).first();
    expect([row.minted_at, row.minted_tx, row.minted_block]).toEqual([null, null, null]);
    const [rwa] = await service.db('rwas');
    expect(rwa.claimed_nfts).toBe('0');
    expect(await setup.settle([first])).toEqual([]);
  });

  test('again and again, while mints are accepted', async () => {
    const ids: string[] = [];
    const mining = setup.keepMining(120);
    for (let round = 0; round < 6; round += 1) {
      ids.push(...(await setup.accept(4)));
      await setup.chain.mine();
      // Never deeper than what is final: a node does not undo that.
      await setup.chain.call('anvil_reorg', 1, []).catch(() => {});
    }
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });
});

describe('a chain', () => {
  test('that drops transactions gets all of them again after a block, whenever they would be sent again', async () => {
    const { chain } = setup;
    await setup.killAll();
    await chain.call('evm_setAutomine', false);
    await setup.work(undefined, {}, { mintRebroadcastMs: 3_600_000 }).until(/working/);
    const inPool = async () => Number((await chain.call<{ pending: string }>('txpool_status')).pending);
    const ids: string[] = [];
    for (let sent = 1; sent <= 3; sent += 1) {
      ids.push(...(await setup.accept(2)));
      await until('the node has it', async () => (await inPool()) === sent);
    }
    await chain.call('anvil_dropAllTransactions');
    await until('they are back', async () => {
      // Each may be the block without them.
      await chain.call('anvil_mine', 1);
      return (await chain.mints()).size === ids.length;
    });
    expect(await setup.settle(ids)).toEqual([]);
  });
});

describe('a token that is on the chain already', () => {
  const mintByHand = async (id: string, to: string) => {
    const { token_id: token } = await setup.service.db('nfts').where({ id }).first();
    await setup.chain.mintByHand(to, token);
  };

  test('for the same recipient is found, with the transaction that really minted it', async () => {
    await setup.killAll();
    const [id = '', other = ''] = await setup.accept(2);
    const { recipient } = await setup.service.db('nfts').where({ id }).first();
    await mintByHand(id, recipient);
    expect(await setup.settle([id, other])).toEqual([]);
    const [found] = await setup.service.db('mint_transaction_nfts').where({ nft_id: id });
    const row = await setup.service.db('nfts').where({ id }).first();
    expect(found.found_tx).toBe(row.minted_tx);
  });

  test('for another recipient fails with that reason, and only that one', async () => {
    await setup.killAll();
    const [id = '', other = ''] = await setup.accept(2);
    await mintByHand(id, '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc');
    expect(await setup.settle([other])).toEqual([]);
    const row = await setup.service.db('nfts').where({ id }).first();
    expect(row.mint_state).toBe('failed');
    expect(row.mint_error).toMatch(
      /^The token was minted to another recipient, 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc, in transaction 0x/,
    );
  });
});
