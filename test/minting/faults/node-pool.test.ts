import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLine, settingsFor } from '../../cli/command-line.ts';
import { startChain, type TestChain } from '../../support/chain.ts';
import { callNode } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { type NoFinalized, noFinalized } from '../../support/node/limits.ts';
import { startNode, type TestNode } from '../../support/node/node.ts';
import { standsStill } from '../../support/node/old-heads.ts';
import { useKey } from '../fault-kinds.ts';
import { startLoggedWorker } from '../logged-worker.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let bent: TestNode;
let others: TestChain[];

beforeEach(async () => {
  others = [];
  setup = await createMintSetup();
  bent = await startNode(setup.chain.rpcUrl);
  await useNodes([bent.url, setup.node.url]);
});
afterEach(async () => {
  await setup.close();
  await bent.close();
  for (const chain of others) await chain.close();
});

const useNodes = (urls: readonly string[]) => setup.service.db('networks').update({ rpc_urls: urls });
const startWorker = () => setup.work().until(/working/);
const headOf = async () => BigInt(await setup.chain.call<string>('eth_blockNumber'));
const presentPast = async () => {
  const head = await headOf();
  return { head, finalized: head - 2n };
};
const pauseOf = async () => {
  const { pause_reason: reason, pause_detail: detail } = await setup.service.db('mint_lanes').first();
  return { reason, detail };
};
const statesOf = async (ids: readonly string[]) =>
  (
    await setup.service
      .db('nfts')
      .whereIn('id', [...ids])
      .distinct('mint_state')
  ).map((row) => row.mint_state);
const transactionStates = async () =>
  (await setup.service.db('mint_transactions').distinct('state')).map(({ state }) => state);

/** A node that shares the chain up to now and goes its own way from here. */
async function startOrphan(): Promise<TestChain> {
  const flags = ['--fork-url', setup.chain.rpcUrl, '--fork-block-number', String(await headOf())];
  const orphan = await startChain({ flags: [...flags, '--no-mining', '--slots-in-an-epoch', '1'] });
  others.push(orphan);
  return orphan;
}

describe('a first node that stands on an orphan and cannot say what is final', () => {
  test.each(['status 429', 'not found'] satisfies NoFinalized[])(
    '%s: nothing is called minted that the sound node does not have',
    async (answer) => {
      const { chain, node, service } = setup;
      const orphan = await startOrphan();
      bent.leadTo(orphan.rpcUrl);
      bent.setFlaws(noFinalized(answer));
      node.lie('forgets');
      await startWorker();
      const ids = await setup.accept(3);
      await untilAll(service, ids, 'submitted');
      const inPool = async () =>
        BigInt((await callNode<{ pending: string }>(orphan.rpcUrl, 'txpool_status', [])).pending);
      await until('the orphan has the transaction', async () => (await inPool()) > 0n);
      // The mint is as deep as it need be on the orphan, and the chain of the sound node has passed it by far.
      await chain.mine(6);
      await callNode(orphan.rpcUrl, 'anvil_mine', ['0x3']);
      await until('it is said that they disagree', async () => (await pauseOf()).reason === 'nodes_disagree');
      const { detail } = await pauseOf();
      expect(detail).toContain(bent.url);
      expect(detail).toContain(node.url);
      expect(detail).toMatch(/block \d+: 0x[0-9a-f]{64} at /);
      expect(await statesOf(ids)).toEqual(['submitted']);

      // The orphan stands still from here; it is left, and what the sound node has is the truth.
      node.lie(undefined);
      const mining = setup.keepMining();
      await untilAll(service, ids, 'minted', 20);
      const mints = await chain.mints();
      expect(mints.size).toBe(3);
      await until('finality is missed', async () => (await pauseOf()).reason === 'finality_unknown');
      expect(await transactionStates()).toEqual(['confirmed']);

      mining.stop();
      bent.setFlaws();
      bent.leadTo(chain.rpcUrl);
      expect(await setup.settle(ids)).toEqual([]);
    },
  );
});

describe('a first node that stands still', () => {
  test('is used all the same when it is the only one, and that no block comes is told', async () => {
    await useNodes([bent.url]);
    bent.setFlaws(standsStill(await presentPast()));
    await startWorker();
    const ids = await setup.accept(2);
    await untilAll(setup.service, ids, 'submitted');
    // Not before it has lasted: 24 times as long as an answer may take.
    await until('the reason', async () => (await pauseOf()).reason === 'no_new_blocks', 30);
    expect((await pauseOf()).detail).toContain(`${bent.url}: block`);
    bent.setFlaws();
    expect(await setup.settle(ids)).toEqual([]);
  });
});

test('one of two nodes is gone while somebody else uses the key: the reason names both, and another node ends it', async () => {
  const { chain, node, service, signers } = setup;
  await useNodes([node.url, 'http://127.0.0.1:9']);
  const mining = setup.keepMining();
  try {
    await startWorker();
    await untilAll(service, await setup.accept(1), 'minted');
    await useKey(
      setup,
      chain.keys[0] ?? '',
      Number(await chain.call('eth_getTransactionCount', signers[0], 'latest')),
    );
    const ids = await setup.accept(2);
    await until('both reasons', async () => {
      const { reason, detail } = await pauseOf();
      return reason === 'foreign_nonce' && detail.includes('only 1 can say');
    });
    await useNodes([node.url]);
    await untilAll(service, ids, 'minted');
    expect(await setup.settle(ids)).toEqual([]);
  } finally {
    mining.stop();
  }
});

test('one of two nodes is gone for good: mints are not called final, and the reason names it', async () => {
  const { node, service } = setup;
  const gone = 'http://127.0.0.1:9';
  await useNodes([node.url, gone]);
  const worker = await startLoggedWorker(setup);
  const mining = setup.keepMining();
  try {
    const ids = await setup.accept(2);
    await untilAll(service, ids, 'minted');
    await until('the reason', async () => (await pauseOf()).reason === 'finality_unknown');
    const { detail } = await pauseOf();
    expect(detail).toContain('only 1 can say');
    expect(detail).toContain('127.0.0.1:9 is failing');
    expect(detail).toContain('RPC_FINALITY_NODES');
    expect(await worker.metric('lane_paused{')).toBe(1);
    expect((await worker.ask('/readyz')).status).toBe(503);
    const polls = () => node.questions.byMethod().get('eth_chainId') ?? 0;
    const before = polls();
    await until('more polls', async () => polls() > before + 20);
    const said = worker.said('mint lane paused').filter(({ reason }) => reason === 'finality_unknown');
    expect(said).toHaveLength(1);
    const { err } = await commandLine(settingsFor(service.databaseUrl)).run('mint', 'list');
    expect(err).toContain('finality_unknown');
    expect(err).toContain('127.0.0.1:9 is failing');
    await useNodes([node.url]);
    await until('the end', async () => (await pauseOf()).reason === null);
    expect(await setup.settle(ids)).toEqual([]);
  } finally {
    mining.stop();
    await worker.stop();
  }
});

describe('two nodes that disagree below the confirmations', () => {
  test('do not keep signed transactions from the nodes: the same bytes are sent again', async () => {
    const { chain, node, service } = setup;
    await chain.call('evm_setAutomine', false);
    await startWorker();
    const ids = await setup.accept(2);
    await untilAll(service, ids, 'submitted');
    const orphan = await startOrphan();
    bent.leadTo(orphan.rpcUrl);
    await chain.call('anvil_dropAllTransactions');
    for (const url of [chain.rpcUrl, orphan.rpcUrl]) await callNode(url, 'anvil_mine', ['0x4']);
    await until('it is said', async () => (await pauseOf()).reason === 'nodes_disagree');
    const sent = () => node.questions.byMethod().get('eth_sendRawTransaction') ?? 0;
    const before = sent();
    await until('the same bytes', async () => sent() > before + 1);
    expect((await pauseOf()).reason).toBe('nodes_disagree');
    expect(await service.db('mint_attempts')).toHaveLength(1);
    bent.leadTo(chain.rpcUrl);
    expect(await setup.settle(ids)).toEqual([]);
  });
});
