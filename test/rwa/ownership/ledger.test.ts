import { Contract, JsonRpcProvider } from 'ethers';
import { describe, expect } from 'vitest';
import { saveFinalBlock } from '../../../src/chain/finality-store.ts';
import { createLogWidth } from '../../../src/chain/minting/log-scan.ts';
import { refreshOwners } from '../../../src/rwa/ownership/ledger-store.ts';
import { startOrphan } from '../../support/node/orphan.ts';
import type { TestService } from '../../support/service.ts';
import { compileContracts } from '../../support/solidity.ts';
import { mintedTx } from '../samples.ts';
import { follow, issueOne, mint, type TokenChain, test, wallets } from './ownership-setup.ts';

const [alice, bob, carol] = wallets;
const hex = (number: bigint) => `0x${number.toString(16)}`;

const ownerOf = async ({ db }: TestService, id: string) =>
  db('nfts').where({ id }).first('owner', 'owner_block', 'owner_at', 'owner_tx');

/** Owners by token as the rows say, and as the chain says. */
async function bothOwners({ db }: TestService, chain: TokenChain, tokenIds: readonly string[]) {
  const rows = await db('nfts').whereIn('token_id', [...tokenIds]);
  const ofRows = Object.fromEntries(rows.map((row) => [row.token_id, row.owner]));
  const ofChain: Record<string, string | null> = {};
  for (const id of tokenIds) ofChain[id] = await chain.ownerOf(id);
  return { ofRows, ofChain };
}

describe('the ledger', () => {
  test('knows the owner after a mint, a transfer and a burn', async ({ service, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await follow(service);
    expect(await ownerOf(service, nft.id)).toMatchObject({
      owner: alice,
      owner_block: String(await tokens.head()),
    });
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await follow(service);
    const moved = await ownerOf(service, nft.id);
    expect(moved).toMatchObject({ owner: bob, owner_tx: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    await tokens.send('burn', nft.tokenId);
    await follow(service);
    const burned = await ownerOf(service, nft.id);
    expect(burned.owner).toBeNull();
    expect(burned.owner_at.getTime()).toBeGreaterThanOrEqual(moved.owner_at.getTime());
  });

  test('takes back what a reorganisation removed, and reads the new branch', async ({ service, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await tokens.mine(3);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(bob);
    await tokens.reorganise(1);
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(alice);
    await tokens.send('moveBatch', [carol], [nft.tokenId]);
    await follow(service);
    const { ofRows, ofChain } = await bothOwners(service, tokens, [nft.tokenId]);
    expect(ofRows).toEqual(ofChain);
    expect(ofRows[nft.tokenId]).toBe(carol);
  });

  test('finds transfers that a reorganisation moved to another block, without the one that was there', async ({
    service,
    tokens,
  }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await tokens.mine(3);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await tokens.mine(1);
    await follow(service);
    await tokens.reorganise(2);
    await tokens.mine(1);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await follow(service);
    const rows = await service.db('nft_transfers').where({ token_id: nft.tokenId, to_address: bob });
    expect(rows.map(({ block_number: block }) => block)).toEqual([String(await tokens.head())]);
  });

  test('takes back what was replaced before the blocks in its place became final, however late it polls', async ({
    service,
    tokens,
  }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await tokens.mine(3);
    await follow(service);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    // Between the block of the transfer and the block that the ledger has come to.
    const number = (await tokens.head()) + 1n;
    await tokens.mine(3);
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(bob);
    await tokens.reorganise(4);
    await tokens.mine(4);
    // A lane has polled meanwhile.
    const block = await tokens.call<{ hash: string }>('eth_getBlockByNumber', hex(number), false);
    await saveFinalBlock(service.db, tokens.chainId, { number, hash: block.hash });
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(alice);
    const rows = await service.db('nft_transfers').where({ token_id: nft.tokenId });
    expect(rows.map(({ to_address: to }) => to)).toEqual([alice]);
  });

  test('finds a transfer that a reorganisation moved below a block which is final by now', async ({
    service,
    tokens,
  }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await tokens.mine(3);
    const below = await tokens.head();
    await tokens.mine(2);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await tokens.mine(2);
    await follow(service);
    await tokens.reorganise(Number((await tokens.head()) - below));
    // Of the new branch, the transfer is in the first block.
    await tokens.call('anvil_rollback', Number((await tokens.head()) - below));
    await tokens.send('moveBatch', [carol], [nft.tokenId]);
    await tokens.mine(6);
    const number = below + 2n;
    const block = await tokens.call<{ hash: string }>('eth_getBlockByNumber', hex(number), false);
    await saveFinalBlock(service.db, tokens.chainId, { number, hash: block.hash });
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(carol);
  });

  test('reads a contract that an RWA names later from its first mint', async ({ service, tokens }) => {
    const contract = await tokens.deployToken();
    const { nft } = await issueOne(service, contract);
    const { Restless } = await compileContracts();
    const provider = new JsonRpcProvider(tokens.rpcUrl);
    const other = new Contract(contract, Restless?.abi ?? [], await provider.getSigner(0));
    await (await other.getFunction('mintBatch')([alice], [nft.tokenId])).wait();
    await tokens.mine(5);
    provider.destroy();
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(alice);
    const ledgers = await service.db('nft_ledgers').orderBy('contract');
    expect(new Set(ledgers.map(({ number }) => number))).toEqual(new Set([String(await tokens.head())]));
  });

  test('stores nothing of tokens whose ids no NFT can have', async ({ service, tokens }) => {
    await tokens.send('mintBatch', [alice, bob], [17n, 2n ** 200n]);
    await follow(service);
    expect(await service.db('nft_transfers').whereIn('token_id', ['17', (2n ** 200n).toString()])).toEqual(
      [],
    );
  });

  test.for([
    ['before', 'read'],
    ['after', 'advanced'],
  ] as const)(
    'loses and doubles nothing when its process dies %s the commit',
    async ([, last], { service, tokens }) => {
      const { nft } = await issueOne(service, tokens.contract);
      await mint(service, tokens, [nft], alice);
      await tokens.send('moveBatch', [bob], [nft.tokenId]);
      await tokens.send('moveBatch', [carol], [nft.tokenId]);
      const dying = follow(
        service,
        (step) => {
          if (step === last) throw new Error('killed');
        },
        { ...createLogWidth(), blocks: 1n },
      );
      await expect(dying).rejects.toThrow('killed');
      await follow(service);
      const rows = await service.db('nft_transfers').where({ token_id: nft.tokenId });
      expect(rows).toHaveLength(3);
      expect((await ownerOf(service, nft.id)).owner).toBe(carol);
      const { ofRows, ofChain } = await bothOwners(service, tokens, [nft.tokenId]);
      expect(ofRows).toEqual(ofChain);
    },
  );

  test('leaves its rows to the process that was faster', async ({ service, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    const slow = follow(service, async (step) => {
      if (step === 'read') await follow(service);
    });
    await expect(slow).rejects.toThrow('moved meanwhile');
    expect(await service.db('nft_transfers').where({ token_id: nft.tokenId })).toHaveLength(1);
  });

  test('gives an NFT that a recovery inserts the owner of transfers that were read before', async ({
    service,
    tokens,
  }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await follow(service);
    const { db } = service;
    await db('nfts')
      .where({ id: nft.id })
      .update({ owner: null, owner_block: null, owner_at: null, owner_tx: null });
    const contract = { chainId: tokens.chainId, contract: tokens.contract };
    await db.transaction((tx) => refreshOwners(tx, contract, [nft.tokenId]));
    expect((await ownerOf(service, nft.id)).owner).toBe(alice);
  });

  test('reads nothing while two nodes disagree', async ({ service, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await follow(service);
    const orphan = await startOrphan(tokens.rpcUrl);
    await orphan.mine(1);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await service.db('networks').update({ rpc_urls: [tokens.rpcUrl, orphan.rpcUrl] });
    const two = await service.twin();
    await follow(two);
    expect((await ownerOf(service, nft.id)).owner).toBe(alice);
    await service.db('networks').update({ rpc_urls: [tokens.rpcUrl] });
    await orphan.close();
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(bob);
  });
});

describe('the news of the ledger', () => {
  const newsOf = async ({ db }: TestService, id: string) =>
    (await db('news').where({ subject: id }).orderBy('seq')).filter(({ type }) =>
      /transferred|reverted/.test(type),
    );

  test('are one for each transfer, none for the mint, and one that corrects what a reorganisation took back', async ({
    service,
    tokens,
  }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await tokens.mine(3);
    await follow(service);
    expect(await newsOf(service, nft.id)).toEqual([]);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await follow(service);
    const [transferred] = await newsOf(service, nft.id);
    expect(transferred).toMatchObject({
      company_id: service.companies.acme,
      type: 'nft.transferred',
      data: { nftId: nft.id, rwaId: nft.rwaId, state: 'minted', owner: bob },
    });
    await tokens.reorganise(1);
    await follow(service);
    await tokens.send('burn', nft.tokenId);
    await follow(service);
    const [, reverted, burned] = await newsOf(service, nft.id);
    expect(reverted).toMatchObject({
      type: 'nft.reverted',
      data: { owner: alice, corrects: transferred.id },
    });
    expect(burned).toMatchObject({ type: 'nft.transferred', data: { owner: null } });
    await follow(service);
    expect(await newsOf(service, nft.id)).toHaveLength(3);
  });

  test('pair up by place: two transfers of one transaction are corrected once each, the later one first', async ({
    service,
    tokens,
  }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await tokens.mine(3);
    await tokens.send('moveBatch', [bob, carol], [nft.tokenId, nft.tokenId]);
    await follow(service);
    const [first, second] = await newsOf(service, nft.id);
    await tokens.reorganise(1);
    await follow(service);
    await tokens.send('moveBatch', [carol, bob], [nft.tokenId, nft.tokenId]);
    await follow(service);
    await tokens.reorganise(1);
    await follow(service);
    const news = await newsOf(service, nft.id);
    expect(news.map(({ type, data }) => [type, data.corrects ?? null])).toEqual([
      ['nft.transferred', null],
      ['nft.transferred', null],
      ['nft.reverted', second.id],
      ['nft.reverted', first.id],
      ['nft.transferred', null],
      ['nft.transferred', null],
      ['nft.reverted', news[5].id],
      ['nft.reverted', news[4].id],
    ]);
  });

  test('of a transfer wait until the NFT is minted, whoever is faster', async ({ service, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    const { db } = service;
    const submitted = { mint_state: 'submitted', recipient: alice, mint_chain_id: tokens.chainId };
    await db('nfts').where({ id: nft.id }).update(submitted);
    await tokens.send('mintBatch', [alice], [nft.tokenId]);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await follow(service);
    expect((await ownerOf(service, nft.id)).owner).toBe(bob);
    expect(await newsOf(service, nft.id)).toEqual([]);
    const minted = { mint_state: 'minted', minted_at: new Date(), minted_tx: mintedTx, minted_block: '1' };
    await db('nfts').where({ id: nft.id }).update(minted);
    const types = await db('news').where({ subject: nft.id }).orderBy('seq').pluck('type');
    expect(types).toEqual(['nft.submitted', 'nft.minted', 'nft.transferred']);
    await db('nfts').where({ id: nft.id }).update({ minted_block: '2' });
    expect(await newsOf(service, nft.id)).toHaveLength(2);
    await tokens.reorganise(1);
    await follow(service);
    const [transferred, , corrected] = await newsOf(service, nft.id);
    expect(corrected).toMatchObject({
      type: 'nft.reverted',
      data: { owner: alice, corrects: transferred.id },
    });
  });

  test('of a transfer that was taken back before the NFT was minted do not exist', async ({
    service,
    tokens,
  }) => {
    const { nft } = await issueOne(service, tokens.contract);
    const submitted = { mint_state: 'submitted', recipient: alice, mint_chain_id: tokens.chainId };
    await service.db('nfts').where({ id: nft.id }).update(submitted);
    await tokens.send('mintBatch', [alice], [nft.tokenId]);
    await tokens.mine(3);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await follow(service);
    await tokens.reorganise(1);
    await follow(service);
    expect(await newsOf(service, nft.id)).toEqual([]);
  });

  test('tell of a token that is minted again after a burn', async ({ service, tokens }) => {
    const { nft } = await issueOne(service, tokens.contract);
    await mint(service, tokens, [nft], alice);
    await tokens.mine(3);
    await tokens.send('burn', nft.tokenId);
    await tokens.send('mintBatch', [carol], [nft.tokenId]);
    await follow(service);
    const news = await newsOf(service, nft.id);
    expect(news.map(({ type, data }) => [type, data.owner])).toEqual([
      ['nft.transferred', null],
      ['nft.transferred', carol],
    ]);
    await tokens.reorganise(1);
    await follow(service);
    const [, again, reverted] = await newsOf(service, nft.id);
    expect(reverted).toMatchObject({ type: 'nft.reverted', data: { owner: null, corrects: again.id } });
  });
});
