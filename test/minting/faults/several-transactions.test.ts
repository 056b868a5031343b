import { afterEach, beforeEach, expect, test } from 'vitest';
import { deploy } from '../../support/deploy.ts';
import { until, untilAll } from '../../support/minting.ts';
import { compileContracts } from '../../support/solidity.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

/*
 * An NFT that stands in several transactions which the chain has lost: each of them may still mint it by its old bytes.
 */

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup({ minters: 2 });
});
afterEach(() => setup.close());

const stranger = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';

const row = (id: string) => setup.service.db('nfts').where({ id }).first();
const head = async () => Number(await setup.chain.call<string>('eth_blockNumber'));
const settings = { isConductJudged: false, isPriceJudged: false };
const allFinal = () =>
  until('finality', async () => {
    const open = await setup.service.db('mint_transactions').whereIn('state', ['submitted', 'confirmed']);
    return open.length === 0;
  });
/** Takes the chain back to before this block, and its final block with it. */
const rollBackTo = async (block: number) => {
  const { chain, service } = setup;
  await until(
    'a final block',
    async () => Number((await service.db('network_finality').first()).number) > block,
  );
  await setup.killAll();
  await chain.call('anvil_reorg', (await head()) - block + 1, []);
  await chain.mine(5);
  await chain.call('evm_setAutomine', false);
};
const recover = async (more: object) => {
  const dry = await setup.cli.json('recover');
  const { value } = await setup.cli.json('recover', '--apply');
  expect(value).toMatchObject({ reopened: dry.value.wouldReopen, found: dry.value.found, ...more });
};
/** The old bytes of transactions with an NFT, in the order in which they were signed. */
const bytesOf = async (id: string): Promise<{ raw: string; hash: string; signer: string }[]> => {
  const rows = await setup.service
    .db('mint_attempts as a')
    .join('mint_transactions as t', 't.id', 'a.transaction_id')
    .join('mint_transaction_nfts as l', 'l.transaction_id', 't.id')
    .where('l.nft_id', id)
    .orderBy('a.created_at');
  return rows.map(({ raw, hash, signer }) => ({ raw: `0x${raw.toString('hex')}`, hash, signer }));
};
const send = (raw: string | undefined) => setup.chain.call('eth_sendRawTransaction', raw);
const mintsTo = async (recipient: string) =>
  [...(await setup.chain.mints())].flatMap(([token, found]) =>
    found.some(({ to }) => to === recipient) ? [token] : [],
  );

/** An NFT whose token a stranger minted, so that its transaction could not, and that has another token now. */
const replaceOne = async () => {
  const { chain, service } = setup;
  const [id = ''] = await setup.accept(1);
  const { token_id: old, recipient } = await row(id);
  await chain.mintByHand(stranger, old);
  const first = await head();
  setup.work();
  const mining = setup.keepMining();
  await untilAll(service, [id], 'failed');
  await allFinal();
  await setup.cli.run('mint', 'pause');
  expect(await setup.cli.json('mint', 'retry', id)).toMatchObject({ status: 0, value: { oldTokenId: old } });
  return { id, old, recipient, first, mining };
};

test.each([
  ['was minted', true],
  ['waits', false],
])(
  'a token that was replaced is minted by its old bytes while the new one %s: its recipient gets no second one',
  async (_how, isMinted) => {
    const { chain, service } = setup;
    const { id, old, recipient, first, mining } = await replaceOne();
    if (isMinted) {
      await setup.cli.run('mint', 'resume');
      await untilAll(service, [id], 'minted');
      await allFinal();
    }
    await until('more that is final', async () => (await head()) > first + 10);
    mining.stop();
    const [kept] = await bytesOf(id);
    await rollBackTo(first);
    expect(await mintsTo(stranger)).toEqual([]);
    await recover({ reopened: isMinted ? 2 : 1 });
    const notes = await service.db('mint_notes').where({ nft_id: id });
    expect.soft(notes).toMatchObject([{ reason: 'left_out' }]);

    await send(kept?.raw);
    await chain.mine();
    await setup.cli.run('mint', 'resume');
    expect(await setup.settle([id], settings)).toEqual([]);
    expect(await mintsTo(recipient)).toEqual([old]);
    expect(await row(id)).toMatchObject({ mint_state: 'minted', token_id: old, minted_tx: kept?.hash });
    expect(await service.db('mint_notes')).toEqual([]);
  },
);

test('a token that was replaced is not minted by its old bytes: the new one is minted', async () => {
  const { service } = setup;
  const { id, recipient, first, mining } = await replaceOne();
  await setup.cli.run('mint', 'resume');
  await untilAll(service, [id], 'minted');
  await allFinal();
  mining.stop();
  const { token_id: token } = await row(id);
  await rollBackTo(first);
  await recover({ reopened: 2 });
  expect(await setup.settle([id], settings)).toEqual([]);
  expect(await mintsTo(recipient)).toEqual([token]);
  expect(await row(id)).toMatchObject({ mint_state: 'minted', token_id: token });
});

test('a cancelled NFT that ended in transactions of two signers waits for both nonces', async () => {
  const { chain, service } = setup;
  const [one = '', two = ''] = setup.signers;
  const code = await chain.call<string>('eth_getCode', chain.contract, 'latest');
  const setCode = (bytes: string) => chain.call('anvil_setCode', chain.contract, bytes);
  const idle = await deploy(chain.rpcUrl, (await compileContracts())['Idle']);
  await setCode(await chain.call<string>('eth_getCode', idle, 'latest'));
  await chain.mine(5);
  const first = (await head()) + 1;
  const [id = ''] = await setup.accept(1);
  // Each signer tries it once.
  await setup.cli.run('mint', 'pause', '--signer', one);
  setup.work();
  await untilAll(service, [id], 'submitted');
  await setup.cli.run('mint', 'pause', '--signer', two);
  await setup.cli.run('mint', 'resume', '--signer', one);
  const mining = setup.keepMining();
  await untilAll(service, [id], 'failed', 60);
  await allFinal();
  await setup.cli.run('mint', 'resume');
  const { recipient, token_id: token } = await row(id);
  expect(await setup.cli.json('mint', 'cancel', id)).toMatchObject({ status: 0 });
  // So that there is something that becomes final above it.
  await untilAll(service, await setup.accept(1), 'failed', 60);
  await until('more that is final', async () => (await head()) > first + 20);
  mining.stop();
  const bytes = await bytesOf(id);
  expect(new Set(bytes.map(({ signer }) => signer))).toEqual(new Set([one, two]));
  await rollBackTo(first);
  await setCode(code);
  await recover({});

  const openIn = async () =>
    service
      .db('mint_transaction_nfts as l')
      .join('mint_transactions as t', 't.id', 'l.transaction_id')
      .where({ 'l.nft_id': id, 'l.state': 'open' })
      .first('t.id', 't.signer');
  const held = await openIn();
  const other = held.signer === one ? two : one;
  await chain.call('anvil_setBalance', other, '0x0');
  setup.work();
  const again = setup.keepMining();
  await until('the first nonce', async () => {
    const { state } = await service.db('mint_transactions').where({ id: held.id }).first();
    return ['finalized', 'reverted', 'lost'].includes(state);
  });
  await until('the other nonce', async () => (await openIn())?.signer !== held.signer);
  expect(await row(id)).toMatchObject({ mint_state: 'submitted', recipient });
  expect(await openIn()).toMatchObject({ signer: other });
  expect(await service.db('mint_notes').where({ nft_id: id })).toMatchObject([{ reason: 'left_out' }]);
  again.stop();
  await setup.killAll();
  await chain.call('anvil_setBalance', other, '0x56bc75e2d63100000');
  await send(bytes.find(({ signer }) => signer === other)?.raw);
  await chain.mine();
  expect(await setup.settle([id], settings)).toEqual([]);
  expect(await row(id)).toMatchObject({ mint_state: 'minted', recipient, token_id: token });
});

test('a mint that a recovery found, of a transaction that the database lacks, is minted again', async () => {
  const { service } = setup;
  const ids = await setup.accept(2);
  setup.work();
  const mining = setup.keepMining();
  await untilAll(service, ids, 'minted');
  await allFinal();
  const first = Math.min(...(await service.db('nfts').pluck('minted_block')).map(Number));
  await until('more that is final', async () => (await head()) > first + 10);
  mining.stop();
  await until(
    'a final block',
    async () => Number((await service.db('network_finality').first()).number) > first,
  );
  await setup.killAll();
  // As after the restore of a backup from before the mints.
  for (const table of ['mint_transaction_nfts', 'mint_attempts', 'mint_transactions'])
    await service.db(table).delete();
  await service.db('mint_lanes').update({ nonce_floor: 2 });
  await rollBackTo(first);
  await recover({ found: 2, fixed: 2, left: 0 });
  expect(await service.db('nfts').whereIn('id', ids).pluck('mint_state')).toEqual(['queued', 'queued']);
  expect(await setup.settle(ids, settings)).toEqual([]);
});
