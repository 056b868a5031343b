import { id as hashOf } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll, untilInPool } from '../../support/minting.ts';
import type { Answer, Flaw } from '../../support/node/flaw.ts';
import { createRefusedSetup, type RefusedSetup } from '../refused-setup.ts';

let setup: RefusedSetup;
beforeEach(async () => {
  setup = await createRefusedSetup();
});
afterEach(() => setup.close());

const word = (value: string) => `0x${value.padStart(64, '0')}`;
const ownerOf = hashOf('ownerOf(uint256)').slice(0, 10);
const isOwnerOf = (params: readonly unknown[]) => JSON.stringify(params[0]).includes(ownerOf);

/** What the contract answers to `ownerOf`, or the node in its place. */
const answering =
  (answer: Answer): Flaw =>
  ({ method, params }) =>
    method === 'eth_call' && isOwnerOf(params) ? answer : undefined;

/**
 * Accepts an NFT and mines its transaction while the contract's code does nothing, so that nothing is minted.
 * @param sinceSent rules that the node follows once it has the transaction
 */
async function acceptPassedOver(...sinceSent: readonly Flaw[]): Promise<string> {
  const { chain, service } = setup;
  await chain.call('evm_setAutomine', false);
  const [id = ''] = await setup.accept(1);
  setup.work();
  await untilAll(service, [id], 'submitted');
  await untilInPool(chain);
  if (sinceSent.length > 0) setup.refusing.setFlaws(...sinceSent);
  const code = await chain.call<string>('eth_getCode', chain.contract, 'latest');
  await chain.call('anvil_setCode', chain.contract, '0x00');
  await chain.mine();
  await chain.call('anvil_setCode', chain.contract, code);
  await chain.call('evm_setAutomine', true);
  return id;
}

const sent = async () => Number((await setup.service.db('mint_transactions').count())[0]?.['count']);

describe('ownerOf', () => {
  test('that names the zero address says that there is no owner: the NFT is sent again', async () => {
    setup.refusing.setFlaws(answering({ result: word('') }));
    const id = await acceptPassedOver();
    const mining = setup.keepMining();
    await untilAll(setup.service, [id], 'minted');
    mining.stop();
    expect(await sent()).toBe(2);
    expect(await setup.settle([id])).toEqual([]);
  });

  test.each([
    ['nothing', { result: '0x' }],
    ['more than an address', { result: word('ff'.repeat(21)) }],
    ['two words', { result: `${word('1')}${word('2').slice(2)}` }],
    ['more than is read', { result: `0x${'00'.repeat(600_000)}` }],
  ] satisfies [string, Answer][])(
    'that returns %s is no proof of anything: that NFT waits with the reason, others go on',
    async (_what, answer) => {
      // Nothing is sent to a contract that is known to answer so.
      const id = await acceptPassedOver(answering(answer));
      const mining = setup.keepMining();
      await until('its reason', async () => (await setup.note(id))?.reason === 'contract_nonsense');
      const others = await setup.accept(2);
      await untilAll(setup.service, others, 'minted');
      expect((await setup.row(id)).mint_state).toBe('submitted');
      mining.stop();
      expect(await setup.settle([id, ...others])).toEqual([]);
      expect(await setup.note(id)).toBeUndefined();
    },
  );
});

describe('a node without the state of old blocks', () => {
  /** The state of no block but the newest. */
  const noState =
    (said: string, keepsNewest: boolean): Flaw =>
    (call, pass) => {
      if (call.method !== 'eth_call' || !isOwnerOf(call.params)) return undefined;
      const newest = setup.chain.call<string>('eth_blockNumber');
      return newest.then((head) =>
        keepsNewest && Number(call.params[1]) >= Number(head) - 1
          ? pass(call)
          : { error: { code: -32000, message: said } },
      );
    };
  const words = 'missing trie node 5fe7 (path ) state 0x5fe7 is not available';

  test('proves by the newest block that a token has no owner', async () => {
    setup.refusing.setFlaws(noState(words, true));
    const id = await acceptPassedOver();
    const mining = setup.keepMining(400);
    await untilAll(setup.service, [id], 'minted');
    mining.stop();
    expect(await setup.settle([id])).toEqual([]);
  });

  test('nor of the newest proves nothing: the NFT waits with the reason', async () => {
    setup.refusing.setFlaws(noState(words, false));
    const id = await acceptPassedOver();
    const mining = setup.keepMining();
    await until('its reason', async () => (await setup.note(id))?.reason === 'evidence_unavailable');
    expect((await setup.note(id))?.detail).toContain('missing trie node');
    const others = await setup.accept(2);
    await untilAll(setup.service, others, 'minted');
    expect((await setup.row(id)).mint_state).toBe('submitted');
    mining.stop();
    expect(await setup.settle([id, ...others])).toEqual([]);
  });

  test('finds a mint by its event alone', async () => {
    const { id, hash } = await setup.acceptMinted();
    setup.refusing.setFlaws(noState(words, false));
    setup.work();
    const mining = setup.keepMining();
    await untilAll(setup.service, [id], 'minted');
    mining.stop();
    expect((await setup.row(id)).minted_tx).toBe(hash);
  });
});
