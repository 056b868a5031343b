import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CommandLine, commandLine, settingsFor } from '../../cli/command-line.ts';
import { until, untilAll } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
let cli: CommandLine;
beforeEach(async () => {
  setup = await createMintSetup();
  cli = commandLine(settingsFor(setup.service.databaseUrl));
});
afterEach(() => setup.close());

const nft = async (id: string) => setup.service.db('nfts').where({ id }).first();

describe('mint cancel asks the chain before it takes a mint back:', () => {
  test('one that waits is taken back, and can be asked for again, once', async () => {
    const { service } = setup;
    await cli.run('mint', 'pause');
    const [id = '', other = ''] = await setup.accept(2);
    setup.work();
    await until(
      'the pause',
      async () => (await service.db('mint_lanes').first()).pause_reason === 'operator',
    );
    await service.db('mint_notes').insert({ nft_id: id, reason: 'unexplained', detail: '' });
    expect(await cli.json('mint', 'cancel', id)).toMatchObject({ value: { nftId: id, state: 'unclaimed' } });
    expect(await nft(id)).toMatchObject({ mint_state: 'unclaimed', recipient: null, queued_at: null });
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
