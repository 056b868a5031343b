import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import type { Flaw, Reply } from '../../support/node/flaw.ts';
import { isAboutToken } from '../../support/node/wrongs.ts';
import { createRefusedSetup, type RefusedSetup } from '../refused-setup.ts';

let setup: RefusedSetup;
beforeEach(async () => {
  setup = await createRefusedSetup();
});
afterEach(() => setup.close());

describe('a node that refuses for good to tell of one NFT', () => {
  const answers: [string, Reply, RegExp][] = [
    ['never answers', 'hang', /no answer within/],
    ['refuses it', { error: { code: -32000, message: 'leveldb: closed' } }, /leveldb: closed/],
    ['answers nonsense', { result: [{ address: 5 }] }, /has not the form/],
  ];

  test.each(answers)('(it %s) keeps only that one waiting, with the reason', async (_how, answer, words) => {
    const { id, tokenId, hash } = await setup.acceptMinted();
    const about: Flaw = (call) =>
      call.method === 'eth_getLogs' && isAboutToken(call, tokenId) ? answer : undefined;
    setup.refusing.setFlaws(about);
    setup.work();
    const mining = setup.keepMining();
    await until('its reason', async () => (await setup.note(id))?.reason === 'evidence_unavailable');
    expect((await setup.note(id))?.detail).toMatch(words);
    // All others go on: those that were sent, and those that are accepted now.
    for (let round = 0; round < 3; round += 1) {
      const others = await setup.accept(2);
      await untilAll(setup.service, others, 'minted');
    }
    expect(await setup.row(id)).toMatchObject({ mint_state: 'submitted', minted_tx: null });
    expect(await setup.note(id)).toBeDefined();
    mining.stop();
    expect(await setup.settle([id])).toEqual([]);
    expect(await setup.row(id)).toMatchObject({ minted_tx: hash });
    expect(await setup.note(id)).toBeUndefined();
  });

  test.each([
    ['is malformed', { result: { blockNumber: 'soon' } }],
    ['is not to be had', { error: { code: -32000, message: 'leveldb: closed' } }],
    ['never comes', 'hang'],
  ] satisfies [string, Reply][])(
    'while the receipt of one transaction %s, only that one waits, until its event is final',
    async (_how, answer) => {
      const [id = ''] = await setup.accept(1);
      let poisoned: unknown;
      setup.refusing.setFlaws(({ method, params }) => {
        if (method !== 'eth_getTransactionReceipt') return undefined;
        poisoned ??= params[0];
        return params[0] === poisoned ? answer : undefined;
      });
      setup.work();
      const mining = setup.keepMining();
      await until('its reason', async () => (await setup.note(id))?.reason === 'evidence_unavailable');
      const others = await setup.accept(4);
      await untilAll(setup.service, others, 'minted');
      await untilAll(setup.service, [id], 'minted');
      mining.stop();
      expect(await setup.row(id)).toMatchObject({ minted_tx: poisoned });
      expect(await setup.settle([id, ...others])).toEqual([]);
      expect(await setup.note(id)).toBeUndefined();
    },
  );
});
