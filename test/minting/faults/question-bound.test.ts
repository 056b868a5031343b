import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../support/minting.ts';
import { type Call, fieldOf, resultOf } from '../../support/node/flaw.ts';
import { createRefusedSetup, type RefusedSetup } from '../refused-setup.ts';

let setup: RefusedSetup;
beforeEach(async () => {
  setup = await createRefusedSetup();
});
afterEach(() => setup.close());

const hash = () => `0x${randomBytes(32).toString('hex')}`;

/** Stores transactions that are confirmed and not final, each in a block of its own. */
async function storeConfirmed(count: number): Promise<void> {
  const { chain, service } = setup;
  await chain.mine(count + 5);
  const head = Number(await chain.call<string>('eth_blockNumber'));
  const [signer] = setup.signers;
  for (let nonce = 0; nonce < count; nonce += 1) {
    const number = head - count + nonce;
    const block = await chain.call<{ hash: string }>(
      'eth_getBlockByNumber',
      `0x${number.toString(16)}`,
      false,
    );
    const mined = hash();
    const [row] = await service
      .db('mint_transactions')
      .insert({
        chain_id: chain.chainId,
        signer,
        nonce,
        contract: chain.contract,
        gas_limit: 1,
        fence: 1,
        state: 'confirmed',
        mined_hash: mined,
        block_number: number,
        block_hash: block.hash,
      })
      .returning('id');
    await service.db('mint_attempts').insert({
      transaction_id: row.id,
      number: 1,
      hash: mined,
      raw: Buffer.alloc(1),
      max_fee_per_gas: 1,
      sent_at_block: 1,
      fence: 1,
    });
  }
}

/** What every poll asks, whatever there is to watch: each node is looked at, and what has waited for long is priced. */
const isOfPoll = ({ method, params }: Call) =>
  ['eth_chainId', 'eth_maxPriorityFeePerGas'].includes(method) ||
  (method === 'eth_getBlockByNumber' && ['latest', 'finalized'].includes(String(params[0])));

/** Has every poll say which block it was shown, and nothing be final. */
function followHeads(): { newest: string } {
  const shown = { newest: '' };
  setup.refusing.setFlaws((call, pass) => {
    if (call.params[0] === 'finalized') return { result: null };
    if (call.params[0] !== 'latest') return undefined;
    return pass(call).then((reply) => {
      shown.newest = String(fieldOf(resultOf(reply), 'hash'));
      return reply;
    });
  });
  return shown;
}

/** The most questions for one new block, after the first two: those begin with what a worker must learn. */
async function questionsPerBlock(shown: { readonly newest: string }): Promise<number> {
  const { chain, refusing } = setup;
  const isLook = () => refusing.asked.some(({ method }) => method === 'eth_getTransactionCount');
  let most = 0;
  for (let block = 0; block < 12; block += 1) {
    refusing.forget();
    await chain.mine();
    const { hash: newest } = await chain.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false);
    // A block that no poll was shown would cost the next one a header.
    await until(`a look at ${newest}`, async () => shown.newest === newest && isLook());
    // The questions for the newest block alone tell that a look is over: they come with each poll.
    const heads = () => refusing.asked.filter(({ params }) => params[0] === 'latest').length;
    const seen = heads();
    await until('the next poll', async () => heads() > seen);
    if (block < 2) continue;
    most = Math.max(most, refusing.asked.filter((call) => !isOfPoll(call)).length);
  }
  return most;
}

test('a new block costs as many questions with 150 transactions that are not final as with 10', async () => {
  await setup.service.db('networks').update({ finality_depth: 5_000 });
  const shown = followHeads();
  await storeConfirmed(10);
  await setup.work().until(/working/);
  const few = await questionsPerBlock(shown);
  await setup.killAll();
  await setup.service.db('mint_attempts').delete();
  await setup.service.db('mint_transactions').delete();

  await storeConfirmed(150);
  await setup.work().until(/working/);
  const many = await questionsPerBlock(shown);
  expect(many).toBe(few);
  // Transactions of the signer, in the newest and in final blocks; a header.
  expect(many).toBeLessThanOrEqual(3);
  expect(await setup.service.db('mint_transactions').whereNot('state', 'confirmed')).toEqual([]);
});

test('a reorganisation of the newest blocks is noticed all the same', async () => {
  await setup.service.db('networks').update({ finality_depth: 5_000 });
  const shown = followHeads();
  await storeConfirmed(20);
  await setup.work().until(/working/);
  await questionsPerBlock(shown);
  // The newest of the blocks of the transactions is 13 below the head; the reorganisation replaces five of them.
  await setup.chain.call('anvil_reorg', 18, []);
  const inFlight = async () => {
    const rows = await setup.service.db('mint_transactions').where({ state: 'submitted' }).orderBy('nonce');
    return rows.map(({ nonce }) => Number(nonce));
  };
  await until('transactions are in flight again', async () => (await inFlight()).length >= 5);
  expect(await inFlight()).toEqual([15, 16, 17, 18, 19]);
});
