import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until, untilAll } from '../../support/minting.ts';
import type { Call, Flaw } from '../../support/node/flaw.ts';
import { logFilterOf } from '../../support/node/wrongs.ts';
import { setClocks } from '../clock-faults.ts';
import { createRefusedSetup, type RefusedSetup } from '../refused-setup.ts';

let setup: RefusedSetup;
beforeEach(async () => {
  setup = await createRefusedSetup();
  await setup.compared();
});
afterEach(() => setup.close());

const refuse = (code: number, message: string) => ({ error: { code, message } });

/** History of blocks before this one has expired, as geth and reth answer then. */
const expiredBefore =
  (block: number): Flaw =>
  (call) => {
    const from = logFilterOf(call)?.fromBlock;
    return from !== undefined && Number(from) < block
      ? refuse(4444, 'pruned history unavailable')
      : undefined;
  };

/** Logs of so many blocks at once. */
const limitedTo =
  (blocks: number, refusal = refuse(-32000, `eth_getLogs is limited to a ${blocks} range`)): Flaw =>
  (call) => {
    const filter = logFilterOf(call);
    if (filter === undefined) return undefined;
    return Number(filter.toBlock) - Number(filter.fromBlock) + 1 <= blocks ? undefined : refusal;
  };

/** No state but that of the newest blocks, as without an archive. */
const noOldState: Flaw = (call, pass) => {
  if (call.method !== 'eth_getCode' || call.params[1] === 'latest') return undefined;
  return pass(call).then(() =>
    refuse(-32000, 'missing trie node 5fe7 (path ) state 0x5fe7 is not available'),
  );
};

/** The questions of each look at the chain, of which the count of transactions is the first. */
function looks(asked: readonly Call[]): Call[][] {
  const all: Call[][] = [[]];
  for (const call of asked) {
    if (call.method === 'eth_getTransactionCount' && call.params[1] === 'latest') all.push([]);
    all.at(-1)?.push(call);
  }
  return all;
}
const evidence = new Set(['eth_getLogs', 'eth_getCode', 'eth_call']);
const mostEvidence = () =>
  Math.max(
    ...looks(setup.refusing.asked).map((calls) => calls.filter(({ method }) => evidence.has(method)).length),
  );

describe('a node whose history has expired', () => {
  test('for blocks before the NFT: the mint is found in those that the node has', async () => {
    const { id, hash } = await setup.acceptMinted();
    setup.refusing.setFlaws(expiredBefore(1));
    setup.work();
    const mining = setup.keepMining();
    await untilAll(setup.service, [id], 'minted');
    mining.stop();
    expect((await setup.row(id)).minted_tx).toBe(hash);
  });

  test('for the block of the mint: nothing is concluded, the NFT waits with the range as its reason', async () => {
    const { id, hash } = await setup.acceptMinted();
    const block = Number((await setup.chain.mints()).get((await setup.row(id)).token_id)?.[0]?.block);
    await setup.chain.mine(40);
    setup.refusing.setFlaws(expiredBefore(block + 20), noOldState);
    setup.work();
    const mining = setup.keepMining();
    await until('its reason', async () => (await setup.note(id))?.reason === 'history_unavailable');
    const { detail } = (await setup.note(id)) ?? {};
    expect(detail).toContain(`The node does not give the logs of blocks 0 to ${block + 19}: `);
    expect(detail).toContain('pruned history unavailable');
    const others = await setup.accept(2);
    await untilAll(setup.service, others, 'minted');
    expect((await setup.row(id)).mint_state).toBe('submitted');
    mining.stop();
    expect(await setup.settle([id, ...others])).toEqual([]);
    expect((await setup.row(id)).minted_tx).toBe(hash);
    expect(await setup.note(id)).toBeUndefined();
  });
});

describe('a chain whose clock is two days behind', () => {
  test('the search ends at the first block of the RWA, not at a time', async () => {
    await setClocks(setup, { chain: -2 * 86_400, rows: 0 });
    const head = Number(await setup.chain.call<string>('eth_blockNumber'));
    await setup.service.db('rwas').update({ final_block: head });
    const { id, hash } = await setup.acceptMinted();
    await setup.chain.mine(40);
    setup.refusing.setFlaws();
    setup.work();
    const mining = setup.keepMining();
    await untilAll(setup.service, [id], 'minted');
    mining.stop();
    expect((await setup.row(id)).minted_tx).toBe(hash);
    expect(await setup.service.db('mint_attempts')).toHaveLength(1);
    const least = setup.refusing.asked.map((call) => Number(logFilterOf(call)?.fromBlock ?? head + 1));
    expect(Math.min(...least)).toBe(head + 1);
  });
});

describe('a long chain whose node gives few blocks at once', () => {
  test.each([
    ['in words', limitedTo(25)],
    ['as BSC does', limitedTo(25, refuse(-32005, 'limit exceeded'))],
    ['in words that nobody knows', limitedTo(25, refuse(-32000, 'nicht so viele auf einmal'))],
  ])(
    '(told %s) is searched at a pace, whatever the number of NFTs, and others go on',
    async (_how, limit) => {
      const minted = [await setup.acceptMinted(), await setup.acceptMinted(), await setup.acceptMinted()];
      // Forty questions for each of them.
      await setup.chain.mine(1_000);
      setup.refusing.setFlaws(limit, noOldState);
      setup.work();
      const mining = setup.keepMining();
      const others = await setup.accept(2);
      await untilAll(setup.service, others, 'minted');
      await untilAll(
        setup.service,
        minted.map(({ id }) => id),
        'minted',
      );
      mining.stop();
      expect(mostEvidence()).toBeLessThanOrEqual(20);
      for (const { id, hash } of minted) expect((await setup.row(id)).minted_tx).toBe(hash);
      // One search for all three, and a few questions to learn the width.
      const asked = setup.refusing.asked.filter((call) => Number(logFilterOf(call)?.toBlock) < 1_000);
      expect(asked.length).toBeLessThan(120);
    },
  );

  test('does not keep a worker from ending within seconds', async () => {
    await setup.acceptMinted();
    await setup.chain.mine(300);
    const few = limitedTo(2);
    // A search of a minute, of which every question is answered in time.
    setup.refusing.setFlaws(noOldState, async (call, pass) => {
      if (logFilterOf(call) !== undefined) await new Promise((answered) => setTimeout(answered, 400));
      return few(call, pass);
    });
    const worker = setup.work(undefined, { RPC_TIMEOUT_MS: '5000' });
    const mining = setup.keepMining();
    const searched = () => setup.refusing.asked.filter((call) => logFilterOf(call) !== undefined).length;
    await until('the search', async () => searched() > 3);
    const told = performance.now();
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    mining.stop();
    expect(performance.now() - told).toBeLessThan(8_000);
    expect(await setup.service.db('mint_lanes').first()).toMatchObject({ holder: null });
  });
});
