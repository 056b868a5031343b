import { JsonRpcProvider, Wallet } from 'ethers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { encodeMintBatch } from '../../../src/chain/minting/mint-contract.ts';
import { until } from '../../support/minting.ts';
import { createMintSetup, type MintSetup } from '../mint-setup.ts';

let setup: MintSetup;
beforeEach(async () => {
  setup = await createMintSetup();
});
afterEach(() => setup.close());

const stranger = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';

/** A signer of ours that no worker has any more. */
const former = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

type Token = { readonly recipient: string; readonly tokenId: string };

const ofOurSigner = 'our signer minted it to a stranger';

/** What became of a token on the chain. */
const facts: Readonly<Record<string, (token: Token) => Promise<void>>> = {
  'nobody has it': async () => {},
  'its recipient got it': ({ recipient, tokenId }) => setup.chain.mintByHand(recipient, tokenId),
  'its recipient got and sold it': async ({ recipient, tokenId }) => {
    await setup.chain.mintByHand(recipient, tokenId);
    await setup.chain.transferAs(recipient, stranger, tokenId);
  },
  'a stranger minted it': ({ tokenId }) => setup.chain.mintByHand(stranger, tokenId),
  [ofOurSigner]: async ({ tokenId }) => {
    const provider = new JsonRpcProvider(setup.chain.rpcUrl, undefined, { cacheTimeout: -1 });
    const signer = new Wallet(setup.chain.keys[0] ?? '', provider);
    const data = encodeMintBatch([{ recipient: stranger, tokenId }]);
    await (await signer.sendTransaction({ to: setup.chain.contract, data })).wait();
    provider.destroy();
  },
};

const failed = async (id: string) => {
  await setup.service.db('nfts').where({ id }).update({ mint_state: 'failed', mint_error: 'It failed.' });
};
/** In a transaction whose nonce somebody else used, without a proof of what became of it. */
const unproven = async (id: string) => {
  const { db } = setup.service;
  const { recipient, token_id } = await row(id);
  const [{ id: transactionId }] = await db('mint_transactions')
    .insert({
      chain_id: setup.chain.chainId,
      signer: former,
      nonce: (await db('mint_transactions')).length,
      contract: setup.chain.contract,
      gas_limit: 1,
      state: 'lost',
      fence: 1,
    })
    .returning('id');
  const link = { transaction_id: transactionId, nft_id: id, token_id, recipient };
  await db('mint_transaction_nfts').insert(link);
  await db('nfts').where({ id }).update({ mint_state: 'submitted' });
};

/** The state of an NFT, and the commands that are printed for it there. */
const states = {
  queued: { reach: async () => {}, commands: ['cancel', 'replace'] },
  failed: { reach: failed, commands: ['retry', 'cancel'] },
  submitted: { reach: unproven, commands: ['release'] },
} as const;

const row = (id: string) => setup.service.db('nfts').where({ id }).first();

type End = { readonly ran: readonly string[]; readonly said: string };

/** Runs a command, then the commands that its answer prints, until none is printed. */
async function walk(id: string, first: string): Promise<End> {
  const ran: string[] = [];
  let next: string | undefined = first;
  let said = '';
  while (next !== undefined) {
    expect(ran, `a circle: ${said}`).not.toContain(next);
    ran.push(next);
    const { status, err } = await setup.cli.run('mint', next, id);
    said = status === 0 ? 'done' : err;
    next = status === 0 ? undefined : /tallystick mint (retry|cancel|replace|release)/.exec(err)?.[1];
  }
  return { ran, said };
}

/** How a path ends: something was done, a person must act, or the lane goes on. */
const ends = /: done$|Find out with the company|Its lane|needs no replacement/;

test('each printed remedy for an NFT leads to minted, to unclaimed, or to a person, whatever the chain has', async () => {
  const { chain, cli, service } = setup;
  await cli.run('mint', 'pause');
  const walks = Object.entries(states).flatMap(([state, { commands }]) =>
    Object.keys(facts).flatMap((fact) => commands.map((command) => ({ state, fact, command }))),
  );
  await service.db('mint_lanes').insert({ chain_id: chain.chainId, signer: former });
  const ids = await setup.accept(walks.length);
  const cases = await Promise.all(
    walks.map(async (each, index) => ({
      ...each,
      id: ids[index] ?? '',
      before: await row(ids[index] ?? ''),
    })),
  );
  for (const { fact, before } of cases) {
    await facts[fact]?.({ recipient: before.recipient, tokenId: before.token_id });
  }
  await chain.mine(5);
  for (const { id, state } of cases) await states[state as keyof typeof states].reach(id); // own keys only
  for (const each of cases) {
    const { said } = await walk(each.id, each.command);
    expect(`${each.state}, ${each.fact}, ${each.command}: ${said}`).toMatch(ends);
  }

  await cli.run('mint', 'resume');
  setup.work();
  const mining = setup.keepMining();
  // No lane settles the transactions of the former signer, so these wait for the person.
  const forAPerson = cases.filter((each) => each.state === 'submitted' && each.fact === ofOurSigner);
  const others = ids.filter((id) => forAPerson.every((each) => each.id !== id));
  const isOver = async () => {
    const underWay = service.db('nfts').whereIn('id', others).whereIn('mint_state', ['queued', 'submitted']);
    return (await underWay).length === 0;
  };
  await until('the end', isOver, 60);
  // What has failed meanwhile prints the same remedies.
  for (const each of await service.db('nfts').whereIn('id', ids).where({ mint_state: 'failed' })) {
    const { said } = await walk(each.id, 'retry');
    expect(said).toMatch(/^done$|Find out with the company/);
  }
  await until('the end', isOver, 60);
  mining.stop();

  const mints = await chain.mints();
  for (const { id, fact, state, command, before } of cases) {
    const { mint_state, token_id } = await row(id);
    const about = `${state}, ${fact}, ${command}`;
    if (fact === ofOurSigner)
      expect([about, mint_state]).toEqual([about, state === 'submitted' ? 'submitted' : 'failed']);
    else if (fact === 'nobody has it' && command === 'cancel')
      expect([about, mint_state]).toEqual([about, 'unclaimed']);
    else {
      expect([about, mint_state]).toEqual([about, 'minted']);
      expect(mints.get(token_id)?.map(({ to }) => to)).toEqual([before.recipient]);
      const isTaken = fact === 'a stranger minted it';
      expect([about, token_id !== before.token_id]).toEqual([about, isTaken]);
    }
  }
});
