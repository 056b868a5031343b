import { Transaction } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSigned } from '../../../src/chain/minting/signer.ts';
import { setCompared } from '../../../src/rwa/minting/compare/compared-contract-store.ts';
import { type CommandLine, commandLine, settingsFor } from '../../cli/command-line.ts';
import { until, untilAll } from '../../support/minting.ts';
import { type Flaw, failure, of } from '../../support/node/flaw.ts';
import { noArchive, prunedBefore } from '../../support/node/limits.ts';
import { swallowsBroadcasts } from '../../support/node/wrongs.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let cli: CommandLine;
beforeEach(async () => {
  setup = await createMintSetup();
  cli = commandLine(settingsFor(setup.service.databaseUrl));
});
afterEach(() => setup.close());

const nft = async (id: string) => setup.service.db('nfts').where({ id }).first();
const noteOf = (id: string) => setup.service.db('mint_notes').where({ nft_id: id }).first();
const pauseOf = async () => (await setup.service.db('mint_lanes').first()).pause_reason;
const lastEntry = async () => {
  const { action, subject, details } = await setup.service.db('audit_log').orderBy('id', 'desc').first();
  return { action, subject, details };
};
/** Runs work while the audit log takes no entry. */
async function withoutEntries(work: () => Promise<void>): Promise<void> {
  const { db } = setup.service;
  await db.raw(`CREATE FUNCTION no_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no entry'; END $$;
    CREATE TRIGGER no_entry BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION no_entry()`);
  await work();
  await db.raw('DROP TRIGGER no_entry ON audit_log; DROP FUNCTION no_entry');
}
/** As `settle`, where fees rise because an operator has a transaction replaced. */
const settled = (ids: readonly string[]) => setup.settle(ids, { isConductJudged: false });
/** Whoever has the key of another minter. */
const thief = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
describe('mint cancel asks the chain before it takes a mint back:', () => {
  test('one that waits is taken back, and can be asked for again, once', async () => {
    const { service } = setup;
    await cli.run('mint', 'pause');
    const [id = '', other = ''] = await setup.accept(2);
    setup.work();
    await until('the pause', async () => (await pauseOf()) === 'operator');
    await service.db('mint_notes').insert({ nft_id: id, reason: 'unexplained', detail: '' });
    expect(await cli.json('mint', 'cancel', id)).toMatchObject({ value: { nftId: id, state: 'unclaimed' } });
    expect(await nft(id)).toMatchObject({ mint_state: 'unclaimed', recipient: null, queued_at: null });
    expect(await lastEntry()).toEqual({
      action: 'mint.cancel',
      subject: id,
      details: { state: 'unclaimed' },
    });
    expect(await service.db('mint_notes')).toEqual([]);

    await cli.run('mint', 'resume');
    const mining = setup.keepMining(50);
    await untilAll(service, [other], 'minted');
    mining.stop();
    expect((await setup.chain.mints()).size).toBe(1);
    const acme = service.as(service.keys.acme);
    const { secret } = (await acme.get(`/v1/api/nft/${id}`)).body;
    expect((await acme.post(`/v1/api/nft/${id}/mint`).send({ secret })).status).toBe(200);
    expect(await setup.settle([id, other])).toEqual([]);
  });

  test('one in a transaction stays', async () => {
    await setup.chain.call('evm_setAutomine', false);
    const [id = ''] = await setup.accept(1);
    setup.work();
    await untilAll(setup.service, [id], 'submitted');
    const { status, err } = await cli.run('mint', 'cancel', id);
    expect([status, err]).toEqual([2, expect.stringContaining('may still be mined')]);
    expect(await setup.settle([id])).toEqual([]);
  });

  test('one whose token somebody else minted stays, and is found out', async () => {
    const [id = ''] = await setup.accept(1);
    const { recipient, token_id: token } = await nft(id);
    await setup.chain.mintByHand(recipient, token);
    const { status, err } = await cli.run('mint', 'cancel', id);
    expect([status, err]).toEqual([2, expect.stringContaining(`has an owner, ${recipient}`)]);
    expect(await nft(id)).toMatchObject({ mint_state: 'queued', recipient });
    expect(await setup.settle([id])).toEqual([]);
  });

  test('no answer is no proof', async () => {
    const [id = ''] = await setup.accept(1);
    setup.node.lie('down');
    const { status, err } = await cli.run('mint', 'cancel', id);
    expect([status, err]).toEqual([1, expect.stringContaining('No node of network 31337 answered')]);
    expect(await nft(id)).toMatchObject({ mint_state: 'queued' });
    expect(await setup.settle([id])).toEqual([]);
  });
});

describe('mint retry asks the chain before it queues a failed mint:', () => {
  const fail = (id: string) =>
    setup.service.db('nfts').where({ id }).update({ mint_state: 'failed', mint_error: 'It failed.' });

  test('one whose token nobody has is minted', async () => {
    const [id = ''] = await setup.accept(1);
    await fail(id);
    expect(await cli.json('mint', 'retry', id)).toMatchObject({ value: { nftId: id, state: 'queued' } });
    expect(await lastEntry()).toEqual({ action: 'mint.retry', subject: id, details: { state: 'queued' } });
    expect(await setup.settle([id])).toEqual([]);
  });

  test('one whose token somebody else got by a mint of nobody of ours gets a new token', async () => {
    const [id = ''] = await setup.accept(1);
    await setup.chain.mintByHand(thief, (await nft(id)).token_id);
    await setup.chain.mine(5);
    await fail(id);
    const before = await nft(id);
    await withoutEntries(async () => {
      expect((await cli.run('mint', 'retry', id)).status).not.toBe(0);
      expect(await nft(id)).toEqual(before);
    });
    const { value, status } = await cli.json('mint', 'retry', id);
    expect([status, value.state, value.oldTokenId]).toEqual([0, 'queued', before.token_id]);
    expect(value.tokenId).not.toBe(before.token_id);
    expect(value.taken).toContain(thief);
    const { nftId: _, ...change } = value;
    expect(await lastEntry()).toEqual({ action: 'mint.retry', subject: id, details: change });
    // The token of the thief is an alarm until somebody has taken note of it.
    expect(await cli.json('mint', 'verify')).toMatchObject({ status: 1, value: { disagreeing: 1 } });
    expect(await cli.json('recover', '--apply')).toMatchObject({ status: 0, value: { left: 1 } });
    expect(await setup.settle([id])).toEqual([]);
  });

  test('one that was minted and sold since is minted: it is not minted again', async () => {
    const [id = ''] = await setup.accept(1);
    const { recipient, token_id: token } = await nft(id);
    await setup.chain.mintByHand(recipient, token);
    await setup.chain.transferAs(recipient, thief, token);
    await setup.chain.mine(5);
    await fail(id);
    expect(await cli.json('mint', 'retry', id)).toMatchObject({ status: 0, value: { state: 'minted' } });
    expect(await nft(id)).toMatchObject({ mint_state: 'minted', recipient, token_id: token });
    expect((await setup.chain.mints()).size).toBe(1);
  });

  test('one whose token our signer minted to another recipient is for a person to decide', async () => {
    setup.work();
    const [id = ''] = await setup.accept(1);
    const { recipient } = await nft(id);
    const mining = setup.keepMining();
    await untilAll(setup.service, [id], 'minted');
    mining.stop();
    await setup.chain.mine(5);
    await setup.killAll();
    // As in a backup of before, whose NFT somebody else has claimed since.
    await setup.service.db.raw('TRUNCATE mint_transactions CASCADE');
    await setup.service.db('nfts').where({ id }).update({
      mint_state: 'failed',
      mint_error: 'It failed.',
      recipient: thief,
      minted_at: null,
      minted_tx: null,
      minted_block: null,
    });
    await setup.service.db('rwas').update({ claimed_nfts: 0 });
    const before = await nft(id);
    for (const command of ['retry', 'replace']) {
      const { status, err } = await cli.run('mint', command, id);
      expect([status, err]).toEqual([2, expect.stringContaining('our own signer')]);
      expect(err).toContain(`the NFT was ${recipient}'s`);
    }
    expect(await nft(id)).toEqual(before);
    expect((await setup.chain.mints()).size).toBe(1);
  });

  test('one whose mint is not final waits', async () => {
    const [id = ''] = await setup.accept(1);
    await setup.chain.mintByHand(thief, (await nft(id)).token_id);
    await fail(id);
    const { status, err } = await cli.run('mint', 'retry', id);
    expect([status, err]).toEqual([2, expect.stringContaining('not final yet')]);
    expect((await nft(id)).mint_state).toBe('failed');
  });
});

describe('mint replace', () => {
  test('gives a queued NFT whose token was squatted a new id, before it is sent', async () => {
    const { chain } = setup;
    await cli.run('mint', 'pause');
    const [id = ''] = await setup.accept(1);
    const { token_id: squatted } = await nft(id);
    await chain.mintByHand(thief, squatted);
    await chain.mine(5);
    const replaced = await cli.json('mint', 'replace', id);
    expect(replaced).toMatchObject({
      status: 0,
      value: { state: 'queued', oldTokenId: squatted, tokenId: (await nft(id)).token_id },
    });
    expect(replaced.value.tokenId).not.toBe(squatted);
    expect(await lastEntry()).toMatchObject({ action: 'mint.replace', subject: id });
    await cli.run('mint', 'resume');
    // The token of the thief is an alarm until somebody has taken note of it.
    expect(await cli.json('recover', '--apply')).toMatchObject({ status: 0, value: { left: 1 } });
    expect(await setup.settle([id])).toEqual([]);
    expect([...(await chain.mints()).values()].map((mints) => mints.length)).toEqual([1, 1]);
  });

  test('refuses where nobody has the token, and where the NFT is in flight', async () => {
    const [id = ''] = await setup.accept(1);
    const { status, err } = await cli.run('mint', 'replace', id);
    expect([status, err]).toEqual([2, expect.stringContaining('it needs no replacement')]);
    await setup.chain.call('evm_setAutomine', false);
    setup.work();
    await untilAll(setup.service, [id], 'submitted');
    expect((await cli.run('mint', 'replace', id)).err).toContain('may still be mined');
    expect(await setup.settle([id])).toEqual([]);
  });
});

describe('mint release', () => {
  test('of all NFTs of a transaction is no failure of their contract', async () => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    setup.work();
    const inPool = async () => Number((await chain.call<{ pending: string }>('txpool_status')).pending);
    const ids: string[] = [];
    for (let sent = 1; sent <= 5; sent += 1) {
      ids.push(...(await setup.accept(1)));
      await untilAll(service, ids, 'submitted');
      await until('the node has it', async () => (await inPool()) >= sent);
    }
    for (const id of ids) expect(await cli.json('mint', 'release', id)).toMatchObject({ status: 0 });
    await until('other attempts', async () => {
      const attempts = await service.db('mint_attempts').where({ number: 2 });
      return attempts.length === ids.length;
    });
    await chain.call('evm_setAutomine', true);
    const mining = setup.keepMining();
    await untilAll(service, ids, 'minted');
    mining.stop();
    expect(await settled(ids)).toEqual([]);
  });

  test('takes an NFT out of a transaction in flight, which mints the others at the same nonce', async () => {
    const { chain, node, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(3);
    node.setFlaws(swallowsBroadcasts);
    setup.work();
    await untilAll(service, ids, 'submitted');
    const [id = '', ...others] = ids;
    const link = await service.db('mint_transaction_nfts').where({ nft_id: id }).first();
    expect(await cli.json('mint', 'release', id)).toMatchObject({ status: 0, value: { state: 'asked' } });
    await until('another attempt', async () => {
      const attempts = await service.db('mint_attempts').where({ transaction_id: link.transaction_id });
      return attempts.length > 1;
    });
    await until('the note', async () => (await noteOf(id))?.reason === 'left_out');
    node.setFlaws();
    expect(await settled([id, ...others])).toEqual([]);
    const links = await service.db('mint_transaction_nfts').where({ nft_id: id }).orderBy('state');
    expect(links.map(({ state }) => state)).toEqual(['minted', 'released']);
  });

  test('of one NFT after the other raises the price no further than nodes ask for', async () => {
    const { chain, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(7);
    setup.work();
    await untilAll(service, ids, 'submitted');
    const attempts = () => service.db('mint_attempts').orderBy('number');
    const [first] = await attempts();
    for (const [released, id] of ids.slice(1).entries()) {
      await cli.json('mint', 'release', id);
      await until('bytes without it', async () => {
        const newest = (await attempts()).at(-1);
        return readSigned(`0x${newest.raw.toString('hex')}`).mints.length === 6 - released;
      });
    }
    await chain.call('evm_setAutomine', true);
    const mining = setup.keepMining();
    await untilAll(service, ids, 'minted');
    mining.stop();
    expect((await attempts()).at(-1).number).toBeGreaterThan(first.number);
    expect(await settled(ids)).toEqual([]);
  });

  test('of the only NFT leaves a transaction that just uses its nonce', async () => {
    const { chain, service, signers } = setup;
    await chain.call('evm_setAutomine', false);
    const [id = ''] = await setup.accept(1);
    setup.work();
    await untilAll(service, [id], 'submitted');
    expect(await cli.json('mint', 'release', id)).toMatchObject({ value: { state: 'asked' } });
    await until('another attempt', async () => (await service.db('mint_attempts')).length > 1);
    const [last] = await service.db('mint_attempts').orderBy('number', 'desc');
    expect(Transaction.from(`0x${last.raw.toString('hex')}`)).toMatchObject({ to: signers[0], data: '0x' });
    expect(await settled([id])).toEqual([]);
  });

  test('of one whose history the nodes lack asks another node, and changes nothing without it', async () => {
    const { chain, node, service } = setup;
    const [id = ''] = await setup.accept(1);
    expect((await cli.run('mint', 'release', id)).err).toContain('is in no transaction');
    const { recipient, token_id: token } = await nft(id);
    await chain.mintByHand(recipient, token);
    const [mint] = (await chain.mints()).get(token) ?? [];
    await chain.mine(40);
    // As compared already, so that what lacks is the evidence.
    await setCompared(service.db, { chainId: chain.chainId, contract: chain.contract }, 1_000_000n);
    node.setFlaws(prunedBefore(BigInt(mint?.block ?? 0) + 20n), noArchive(10n));
    setup.work();
    const mining = setup.keepMining();
    await until('the reason', async () => (await noteOf(id))?.reason === 'history_unavailable');
    const underWay = service.db('mint_transactions').whereIn('state', ['submitted', 'confirmed']);
    await until('the end of its transaction', async () => (await underWay.clone()).length === 0);
    mining.stop();
    expect(await cli.run('mint', 'release', id)).toMatchObject({
      status: 1,
      err: expect.stringContaining('pruned history'),
    });
    expect(await nft(id)).toMatchObject({ mint_state: 'submitted', minted_tx: null });
    await withoutEntries(async () => {
      expect((await cli.run('mint', 'release', id, '--rpc', chain.rpcUrl)).status).not.toBe(0);
      expect(await nft(id)).toMatchObject({ mint_state: 'submitted', minted_tx: null });
    });
    const released = await cli.json('mint', 'release', id, '--rpc', chain.rpcUrl);
    expect(released).toMatchObject({ status: 0, value: { state: 'minted' } });
    expect(await nft(id)).toMatchObject({ mint_state: 'minted', minted_tx: mint?.hash });
    expect(await lastEntry()).toEqual({ action: 'mint.release', subject: id, details: { state: 'minted' } });
    expect(await noteOf(id)).toBeUndefined();
    // What the command asks is no question of a lane.
    expect(await settled([id])).toEqual([]);
  });
});

describe('a nonce at which somebody else left a transaction in a pool', () => {
  /** Its tip is so many times the first that it is offered against it. */
  const paysMore = (times: bigint): Flaw => {
    let first: bigint | undefined;
    return of(['eth_sendRawTransaction'], (call, pass) => {
      const { nonce, maxPriorityFeePerGas: tip } = Transaction.from(String(call.params[0]));
      if (nonce !== 0 || tip === null) return pass(call);
      first ??= tip;
      if (tip >= first * times) return pass(call);
      return Promise.resolve(failure(-32000, 'replacement transaction underpriced'));
    });
  };

  test('tells when no more is offered, and is outbid once an operator sets the tip', async () => {
    const { chain, node, service } = setup;
    chain.market.hold(1_000_000_000n);
    await chain.call('evm_setAutomine', false);
    await chain.mine(3);
    node.setFlaws(paysMore(10n));
    const ids = await setup.accept(2);
    setup.work(undefined, { MINT_STUCK_BLOCKS: '2' });
    const mining = setup.keepMining();
    await until('the bound', async () =>
      (await service.db('mint_lanes').first()).pause_detail?.includes('--min-tip'),
    );
    expect(await pauseOf()).toBe('broadcast_refused');
    await cli.json('network', 'update', '31337', '--min-tip', '10');
    await untilAll(service, ids, 'minted', 40);
    mining.stop();
    expect(await settled(ids)).toEqual([]);
  });
});

describe('mint fill-gap', () => {
  test('refuses where there is no gap, and where the nonce is that of a mint', async () => {
    await setup.chain.call('evm_setAutomine', false);
    const refused = () => cli.run('mint', 'fill-gap', '--chain-id', '31337');
    expect(await refused()).toMatchObject({ status: 2, err: expect.stringContaining('There is no gap') });
    const ids = await setup.accept(1);
    setup.work();
    await untilAll(setup.service, ids, 'submitted');
    expect(await refused()).toMatchObject({ status: 2, err: expect.stringContaining('in flight') });
    expect(await setup.settle(ids)).toEqual([]);
  });
});
