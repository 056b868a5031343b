import { getAddress, Transaction } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSigned } from '../../../src/chain/minting/signer.ts';
import { addRwa } from '../../rwa/samples.ts';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { of } from '../../support/node/flaw.ts';
import { broadcastOutages } from '../../support/node/outages.ts';
import type { WatchedNode } from '../../support/node/watched-node.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let node: WatchedNode;
beforeEach(async () => {
  setup = await createMintSetup();
  node = setup.node;
});
afterEach(() => setup.close());

const gwei = 1_000_000_000n;
const ether = 10n ** 18n;
const cap = ether / 20n;
const costOf = ({ gasLimit, maxFeePerGas, gasPrice }: Transaction) =>
  gasLimit * (maxFeePerGas ?? gasPrice ?? 0n);
const refuse = (message: string) => ({ error: { code: -32000, message } });
const inEther = (wei: bigint) => (Number(wei) / 1e18).toFixed(2);
/** As geth, Erigon and their forks do by default, with a cap of one ether. */
const exceedsCap = (raw: unknown) => {
  const cost = costOf(Transaction.from(String(raw)));
  if (cost <= cap) return undefined;
  return refuse(`tx fee (${inEther(cost)} ether) exceeds the configured cap (${inEther(cap)} ether)`);
};
const baseFee = (fee: bigint) => setup.chain.call('anvil_setNextBlockBaseFeePerGas', `0x${fee.toString(16)}`);

const pauses = () => setup.service.db('mint_lanes').first('pause_reason', 'pause_detail');
const attempts = async (): Promise<Transaction[]> =>
  (await setup.service.db('mint_attempts').orderBy('created_at')).map(({ raw }) =>
    Transaction.from(`0x${raw.toString('hex')}`),
  );

describe('a transaction that every node refuses', () => {
  test('for the gas of its contract makes transactions to no other contract smaller', async () => {
    const { chain, service } = setup;
    const { db, companies, keys } = service;
    const hungry = getAddress(await deploy(chain.rpcUrl, (await compileContracts())['Hungry']));
    await chain.mine(5);
    node.setFlaws(
      of('eth_sendRawTransaction', ({ params: [raw] }) => {
        const { contract, mints } = readSigned(String(raw));
        return contract === hungry && mints.length > 1 ? refuse('exceeds block gas limit') : undefined;
      }),
    );
    const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: hungry });
    const dear: string[] = [];
    while (dear.length < 2) {
      const mint = service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`);
      dear.push((await mint.send({}).expect(200)).body.nftId);
    }
    setup.work();
    const mining = setup.keepMining();
    await untilAll(service, dear, 'minted');
    await setup.cli.run('mint', 'pause');
    const paused = async () => (await pauses()).pause_reason;
    const ids = await setup.accept(10);
    await until('the pause', async () => (await paused()) === 'operator');
    await setup.cli.run('mint', 'resume');
    await untilAll(service, ids, 'minted');
    mining.stop();
    expect((await db('mint_transactions').where({ contract: chain.contract })).length).toBeLessThan(5);
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('even with one mint of its contract keeps the mints of others waiting for a while only', async () => {
    const { chain, service } = setup;
    const { db, companies, keys } = service;
    const hungry = getAddress(await deploy(chain.rpcUrl, (await compileContracts())['Hungry']));
    await chain.mine(5);
    const takesNone = of('eth_sendRawTransaction', ({ params: [raw] }) => {
      const { contract, mints } = readSigned(String(raw));
      return contract === hungry && mints.length > 0 ? refuse('exceeds block gas limit') : undefined;
    });
    node.setFlaws(takesNone);
    const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: hungry });
    const mint = await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
    setup.work();
    const mining = setup.keepMining();
    await until('the attempt', async () => (await attempts()).length > 0);
    const ids = await setup.accept(2);
    // 600 polls, then the last NFT is left out.
    await untilAll(service, ids, 'minted', 90);
    await until('its reason', async () => {
      const contract = await db('mint_contracts').where({ contract: hungry }).first();
      return contract?.pause_detail?.startsWith('No node has taken a transaction with one mint') === true;
    });
    expect((await db('nfts').where({ id: mint.body.nftId }).first()).mint_state).toBe('queued');
    await setup.killAll();
    node.setFlaws();
    setup.work();
    await untilAll(service, [mint.body.nftId], 'minted');
    mining.stop();
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('for its fee is signed anew at its nonce with fewer NFTs, and later ones are no larger', async () => {
    const { chain, service } = setup;
    node.setFlaws(of('eth_sendRawTransaction', ({ params: [raw] }) => exceedsCap(raw)));
    await baseFee(60n * gwei);
    await chain.mine();
    const ids = await setup.accept(40);
    setup.work();
    await until('an attempt', async () => (await attempts()).length > 0);
    const [refused] = await attempts();
    // The price stays where a whole batch is too dear.
    const timer = setInterval(() => void baseFee(60n * gwei).then(() => chain.mine()), 150);
    await until('a smaller one', async () => (await attempts()).length > 1);
    ids.push(...(await setup.accept(4)));
    await untilAll(service, ids, 'minted', 40);
    clearInterval(timer);
    const later = (await attempts()).slice(1);
    expect(later.filter((each) => costOf(each) > cap)).toEqual([]);
    expect(later[0]?.nonce).toBe(refused?.nonce);
    expect((later[0]?.data.length ?? 0) < (refused?.data.length ?? 0)).toBe(true);
    expect(await service.db('mint_notes')).toEqual([]);
    expect((await pauses()).pause_reason).toBeNull();
    expect(await setup.settle(ids)).toEqual([]);
  });

  test('is replaced without the NFTs of which its outcome is known, which another transaction may mint by then', async () => {
    const { service } = setup;
    node.setFlaws(of('eth_sendRawTransaction', () => refuse('transaction underpriced')));
    const ids = await setup.accept(3);
    setup.work();
    await until('an attempt', async () => (await attempts()).length > 0);
    const [ended] = ids;
    await service.db('mint_transaction_nfts').where({ nft_id: ended }).update({ state: 'failed' });
    await service.db('nfts').where({ id: ended }).update({ mint_state: 'failed', mint_error: 'ended' });
    const count = (await attempts()).length;
    const mining = setup.keepMining();
    await until('more attempts', async () => (await attempts()).length > count + 2);
    const mintsOf = async () => readSigned((await attempts()).at(-1)?.serialized ?? '').mints.length;
    expect(await mintsOf()).toBe(2);
    mining.stop();
    node.setFlaws();
    expect(await setup.settle(ids.slice(1))).toEqual([]);
  });

  test.each([
    [
      'a gas limit that does not cover it',
      'intrinsic gas too low: gas 21000, minimum needed 21064',
      (each: Transaction, first: Transaction) => each.gasLimit <= first.gasLimit,
    ],
    [
      'a type that the chain does not know',
      'transaction type not supported',
      (each: Transaction) => each.type === 2,
    ],
  ])(
    'for %s is signed anew so that it fits, at its nonce, with all its NFTs',
    async (_what, words, isRefused) => {
      let first: Transaction | undefined;
      node.setFlaws(
        of('eth_sendRawTransaction', ({ params: [raw] }) => {
          const transaction = Transaction.from(String(raw));
          first ??= transaction;
          return isRefused(transaction, first) ? refuse(words) : undefined;
        }),
      );
      const ids = await setup.accept(3);
      setup.work();
      await until('another attempt', async () => (await attempts()).length > 1);
      const [refused, again] = await attempts();
      expect([again?.nonce, again?.data]).toEqual([refused?.nonce, refused?.data]);
      expect(await setup.settle(ids)).toEqual([]);
    },
  );

  test('and reaches the chain all the same mints each NFT once', async () => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    // Refused by the node that answers, and handed on by another behind the same address.
    node.setFlaws(
      of('eth_sendRawTransaction', async (call, pass) => {
        const answer = exceedsCap(call.params[0]);
        if (answer !== undefined) await pass(call);
        return answer;
      }),
    );
    await baseFee(60n * gwei);
    await chain.mine();
    const ids = await setup.accept(30);
    setup.work();
    await untilAll(service, ids, 'submitted');
    const mining = setup.keepMining();
    expect(await setup.settle(ids)).toEqual([]);
    mining.stop();
    const links = await service.db('mint_transaction_nfts').whereNot('state', 'minted');
    expect(links).toEqual([]);
  });
});

describe('words that name no price', () => {
  /** What the mined attempts of these mints pay for a unit of gas, and what the dearest block since then asked. */
  const prices = async () => {
    const { chain, service } = setup;
    type Receipt = { effectiveGasPrice: string; blockNumber: string };
    const hashes: string[] = await service
      .db('mint_transactions')
      .whereNotNull('mined_hash')
      .pluck('mined_hash');
    const receipts = await Promise.all(
      hashes.map((hash) => chain.call<Receipt>('eth_getTransactionReceipt', hash)),
    );
    return receipts.map(({ effectiveGasPrice }) => BigInt(effectiveGasPrice));
  };

  // More polls than usual where words once raised a price, and few where a node is asked less often.
  const pollsOf: Readonly<Record<string, number>> = { 'an internal error': 60, 'a limit of questions': 3 };

  test.each(broadcastOutages)(
    'raise none while blocks go on, neither of this mint nor of later ones: $name',
    async ({ name, words, reply }) => {
      const { chain, service } = setup;
      chain.market.hold(gwei);
      await chain.call('evm_setAutomine', false);
      await chain.mine(3);
      node.setFlaws(of('eth_sendRawTransaction', () => reply));
      const ids = await setup.accept(2);
      // Ten minutes are 600 polls.
      setup.work(undefined, { MINT_STUCK_BLOCKS: '5' }, { mintPollMs: 200 });
      const mining = setup.keepMining(50);
      await until('the reason', async () => (await pauses()).pause_reason === 'broadcast_refused');
      expect((await pauses()).pause_detail).toContain(words);
      const given = node.given().length;
      await until('polls', async () => node.given().length >= given + (pollsOf[name] ?? 10), 60);
      expect(new Set(node.given()).size).toBe(1);
      node.setFlaws();
      await untilAll(service, ids, 'minted', 40);
      const later = await setup.accept(2);
      await untilAll(service, later, 'minted', 40);
      mining.stop();
      const suggested = BigInt(await chain.call<string>('eth_maxPriorityFeePerGas'));
      expect((await prices()).filter((price) => price > gwei + suggested)).toEqual([]);
      expect(await setup.settle([...ids, ...later])).toEqual([]);
    },
  );
});
