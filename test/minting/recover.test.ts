import { getAddress } from 'ethers';
import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import type { MintEvent } from '../../src/chain/minting/evidence-node.ts';
import type { MintNode } from '../../src/chain/minting/mint-node.ts';
import { createClaimSecretVault } from '../../src/rwa/assets/claim-secret.ts';
import { compareMints } from '../../src/rwa/minting/compare/compare-page.ts';
import type { Proving } from '../../src/rwa/operators/remedies/mint-proof.ts';
import { releaseMint } from '../../src/rwa/operators/remedies/mint-release.ts';
import { findRequestedMint } from '../../src/rwa/operators/remedies/mint-remedy-store.ts';
import { replaceToken } from '../../src/rwa/operators/remedies/mint-replace.ts';
import {
  type RecoveredFinding,
  type RecoverRun,
  recoverNetwork,
} from '../../src/rwa/operators/remedies/recover.ts';
import { addNetwork, addNft, addRwa, recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

/* What `recover` concludes, and does not, from what one node says. */

const signer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const stranger = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
const vault = createClaimSecretVault(new Map([['test', Buffer.alloc(32, 7)]]));
const hashOf = (number: bigint) => `0x${number.toString(16).padStart(64, '0')}`;
const lostTx = `0x${'ab'.repeat(32)}`;

/** A node with 25 blocks, of which 20 are final, and in which nothing of ours ever happened. */
const quiet = {
  finalized: 20n,
  head: async () => blockAt(25n),
  block: async (number: bigint) => (number > 25n ? null : blockAt(number)),
  transactionCount: async () => 0n,
  hasCode: async () => true,
  mintsIn: async () => [],
  ownerOf: async () => null,
  transaction: async () => ({ from: signer, nonce: 0n, data: '0x' }),
};
function blockAt(number: bigint) {
  const parentHash = hashOf(number - 1n);
  return { number, hash: hashOf(number), parentHash, time: new Date(), baseFee: null, gasLimit: 1n };
}
const nodeThat = (says: Partial<MintNode>) => ({ ...quiet, ...says }) as Partial<MintNode> as MintNode; // nothing else is asked

let networks = 50_000;
const newNetwork = (db: Knex) => {
  networks += 1;
  return addNetwork(db, String(networks));
};

/** A network that has lost a block which was final. */
async function newRolledBack(db: Knex): Promise<string> {
  const chainId = await newNetwork(db);
  await db('network_finality').insert({ chain_id: chainId, number: 20, hash: lostTx });
  return chainId;
}

let contracts = 0xc000000000000000000000000000000000000000n;
/** A contract with an NFT whose row says this. */
async function addOne(db: Knex, companyId: string, chainId: string, row: object) {
  contracts += 1n;
  const contract = getAddress(`0x${contracts.toString(16)}`);
  const rwa = await addRwa(db, companyId, { chainId: Number(chainId), contractAddress: contract });
  const { id } = await addNft(db, vault, rwa);
  const [nft] = await db('nfts').where({ id }).update(row).returning('*');
  return { contract, nft, rwa };
}
const unclaimed = { mint_state: 'unclaimed' };
const minted = {
  mint_state: 'minted',
  recipient,
  minted_at: new Date(),
  minted_tx: lostTx,
  minted_block: 5,
};
const mintOf = (tokenId: string, blockNumber = 5n): MintEvent => ({
  tokenId,
  recipient,
  hash: `0x${'cd'.repeat(32)}`,
  blockNumber,
  blockHash: hashOf(blockNumber),
});

/** Recovers as the command does. */
async function recover(db: Knex, chainId: string, node: MintNode, isApplied = true) {
  const found: RecoveredFinding[] = [];
  const network = { chainId } as RecoverRun['network']; // its id is enough
  const run = {
    db,
    network,
    node,
    vault: isApplied ? vault : undefined,
    signers: [signer],
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  return { ...(await recoverNetwork(run, (each) => found.push(each))), found };
}

const proving = (db: Knex, chainId: string, node: MintNode): Proving => ({
  db,
  network: { chainId } as Proving['network'], // its id is enough
  node,
  signal: new AbortController().signal,
  onProgress: () => {},
  onChange: async () => {},
});

test('recover takes a block that the node does not have yet for no answer', async ({ db, service }) => {
  const chainId = await newNetwork(db);
  await addOne(db, service.companies.acme, chainId, unclaimed);
  await db('mint_lanes').insert({ chain_id: chainId, signer });
  const transaction = { chain_id: chainId, signer, nonce: 0, contract: signer, gas_limit: 1, fence: 1 };
  await db('mint_transactions').insert({ ...transaction, state: 'lost' });
  await db('network_finality').insert({ chain_id: chainId, number: 100, hash: hashOf(100n) });
  await expect(recover(db, chainId, nodeThat({}))).rejects.toThrow('block 100');
  expect(await db('mint_transactions').where({ chain_id: chainId }).pluck('state')).toEqual(['lost']);
  expect(await db('network_finality').where({ chain_id: chainId })).toHaveLength(1);
});

describe('an NFT that says minted, in a transaction that the database does not have,', () => {
  test('is queued again when the chain has no mint of its token', async ({ db, service }) => {
    const chainId = await newRolledBack(db);
    const { nft, rwa } = await addOne(db, service.companies.acme, chainId, {
      ...minted,
      mint_chain_id: chainId,
    });
    await db('rwas').where({ id: rwa.id }).update({ claimed_nfts: 1 });
    const dry = await recover(db, chainId, nodeThat({}), false);
    expect(dry.found).toMatchObject([{ kind: 'no_token', nftId: nft.id, mended: true }]);
    expect(await db('nfts').where({ id: nft.id }).first()).toMatchObject({ mint_state: 'minted' });

    expect((await recover(db, chainId, nodeThat({}))).found).toEqual(dry.found);
    expect(await db('nfts').where({ id: nft.id }).first()).toMatchObject({
      mint_state: 'queued',
      recipient,
      token_id: nft.token_id,
      minted_tx: null,
      minted_block: null,
    });
    expect(await db('rwas').where({ id: rwa.id }).first()).toMatchObject({ claimed_nfts: '0' });
    expect((await recover(db, chainId, nodeThat({}))).found).toEqual([]);
  });

  test.for([
    ['has a mint in a block that is not final', { mintedIn: 23n, ownerAt: undefined }],
    ['has an owner at the newest block', { mintedIn: undefined, ownerAt: 25n }],
  ] as const)('stays where its token %s', async ([, { mintedIn, ownerAt }], { db, service }) => {
    const chainId = await newRolledBack(db);
    const { nft } = await addOne(db, service.companies.acme, chainId, { ...minted, mint_chain_id: chainId });
    const node = nodeThat({
      mintsIn: async (_contract, { from, to }) =>
        mintedIn !== undefined && from <= mintedIn && mintedIn <= to ? [mintOf(nft.token_id, mintedIn)] : [],
      ownerOf: async (_contract, _token, at) => (at === ownerAt ? recipient : null),
    });
    const { found } = await recover(db, chainId, node);
    expect(found.filter(({ kind }) => kind === 'no_token')).toMatchObject([{ mended: false }]);
    expect(await db('nfts').where({ id: nft.id }).first()).toMatchObject({ mint_state: 'minted' });
  });

  test('needs a person where the chain has every block that was final: a node may hide the mint of a burned token', async ({
    db,
    service,
  }) => {
    const chainId = await newNetwork(db);
    const { nft } = await addOne(db, service.companies.acme, chainId, { ...minted, mint_chain_id: chainId });
    await db('network_finality').insert({ chain_id: chainId, number: 20, hash: hashOf(20n) });
    expect((await recover(db, chainId, nodeThat({}))).found).toMatchObject([
      { kind: 'no_token', mended: false },
    ]);
    expect(await db('nfts').where({ id: nft.id }).first()).toMatchObject({ mint_state: 'minted' });
  });

  test('counts alike in a dry run where it had ended in a transaction that the chain has lost', async ({
    db,
    service,
  }) => {
    const chainId = await newRolledBack(db);
    const { contract, nft, rwa } = await addOne(db, service.companies.acme, chainId, {
      ...minted,
      mint_chain_id: chainId,
    });
    await db('rwas').where({ id: rwa.id }).update({ claimed_nfts: 1 });
    await db('mint_lanes').insert({ chain_id: chainId, signer });
    const [{ id: transactionId }] = await db('mint_transactions')
      .insert({ chain_id: chainId, signer, nonce: 0, contract, gas_limit: 1, fence: 1, state: 'lost' })
      .returning('id');
    const link = { transaction_id: transactionId, nft_id: nft.id, token_id: nft.token_id, recipient };
    await db('mint_transaction_nfts').insert({ ...link, state: 'minted' });
    const dry = await recover(db, chainId, nodeThat({}), false);
    expect(await db('mint_transactions').where({ id: transactionId }).first('state')).toEqual({
      state: 'lost',
    });
    const applied = await recover(db, chainId, nodeThat({}));
    expect(applied).toEqual(dry);
    expect(applied).toMatchObject({ reopened: 1, found: [{ kind: 'no_token', mended: true }] });
    // Its old bytes may mint it: it waits for their nonce.
    expect(await db('nfts').where({ id: nft.id }).first()).toMatchObject({ mint_state: 'submitted' });
    expect(await db('mint_notes').where({ nft_id: nft.id })).toMatchObject([{ reason: 'left_out' }]);
  });
});

test('a replaced NFT waits for the nonce of a transaction in flight that has its old token', async ({
  db,
  service,
}) => {
  const chainId = await newNetwork(db);
  const row = { mint_state: 'submitted', recipient, mint_chain_id: chainId, queued_at: new Date() };
  const { contract, nft } = await addOne(db, service.companies.acme, chainId, row);
  await db('mint_lanes').insert({ chain_id: chainId, signer });
  const [{ id: transactionId }] = await db('mint_transactions')
    .insert({ chain_id: chainId, signer, nonce: 0, contract, gas_limit: 1, fence: 1 })
    .returning('id');
  const link = { transaction_id: transactionId, nft_id: nft.id, token_id: nft.token_id, recipient };
  await db('mint_transaction_nfts').insert(link);
  const node = nodeThat({
    mintsIn: async (_contract, { from, to }) =>
      from <= 5n && 5n <= to ? [{ ...mintOf(nft.token_id), recipient: stranger }] : [],
    transaction: async () => ({ from: stranger, nonce: 0n, data: '0x' }),
  });
  expect((await recover(db, chainId, node)).found).toMatchObject([{ kind: 'other_recipient', mended: true }]);
  const mint = await findRequestedMint(db, nft.id);
  if (mint === undefined) throw new Error('the mint has not failed');
  const replaced = await replaceToken(proving(db, chainId, node), mint);
  expect(replaced).toMatchObject({ state: 'submitted', oldTokenId: nft.token_id });
  const links = await db('mint_transaction_nfts').where({ nft_id: nft.id });
  expect(links).toMatchObject([{ state: 'open', asked_out: true, token_id: nft.token_id }]);
  expect(await db('mint_notes').where({ nft_id: nft.id })).toMatchObject([{ reason: 'left_out' }]);
});

test.for(['unclaimed', 'failed', 'queued'] as const)(
  'mint release says that an NFT is %s again, as it was before its transaction was lost',
  async (was, { db, service }) => {
    const chainId = await newNetwork(db);
    const row = { mint_state: 'submitted', recipient, mint_chain_id: chainId, queued_at: new Date() };
    const { contract, nft } = await addOne(db, service.companies.acme, chainId, row);
    await db('mint_lanes').insert({ chain_id: chainId, signer });
    const [{ id: transactionId }] = await db('mint_transactions')
      .insert({ chain_id: chainId, signer, nonce: 0, contract, gas_limit: 1, fence: 1, state: 'lost' })
      .returning('id');
    const link = { transaction_id: transactionId, nft_id: nft.id, token_id: nft.token_id, recipient };
    await db('mint_transaction_nfts').insert({ ...link, ended_as: was });
    const mint = await findRequestedMint(db, nft.id);
    if (mint === undefined) throw new Error('the mint is not under way');
    expect(await releaseMint(proving(db, chainId, nodeThat({})), mint)).toBe(was);
    expect(await db('nfts').where({ id: nft.id }).first()).toMatchObject({ mint_state: was });
  },
);

test('a contract that cannot be recovered keeps no other from it, and is named', async ({ db, service }) => {
  const chainId = await newNetwork(db);
  const one = await addOne(db, service.companies.acme, chainId, unclaimed);
  const other = await addOne(db, service.companies.acme, chainId, unclaimed);
  const node = nodeThat({
    mintsIn: async (contract, { from, to }) => {
      if (contract === one.contract) throw new Error('no logs of this one');
      return from <= 5n && 5n <= to ? [mintOf(other.nft.token_id)] : [];
    },
  });
  for (const isApplied of [false, true]) {
    const { failed, found } = await recover(db, chainId, node, isApplied);
    expect(failed).toMatchObject([{ contract: one.contract, why: 'no logs of this one' }]);
    expect(found).toMatchObject([{ contract: other.contract, kind: 'not_recorded' }]);
  }
  expect(await db('nfts').where({ id: other.nft.id }).first()).toMatchObject({ mint_state: 'minted' });
  // Nothing is sent on the network until all of it is recovered.
  expect(await db('mint_recoveries').where({ chain_id: chainId })).toHaveLength(1);
});

test('a mint and its block are of one chain', async ({ db, service }) => {
  const chainId = await newNetwork(db);
  const { contract, nft } = await addOne(db, service.companies.acme, chainId, unclaimed);
  const comparison = {
    db,
    node: nodeThat({}),
    chainId,
    contract,
    signers: new Set([signer]),
    finalized: 20n,
  };
  const compare = async (event: MintEvent) => (await compareMints(comparison, [event]).next()).value;
  await expect(compare({ ...mintOf(nft.token_id), blockHash: hashOf(99n) })).rejects.toThrow(
    'not in its chain',
  );
  expect(await compare(mintOf(nft.token_id))).toMatchObject({ kind: 'not_recorded' });
});
