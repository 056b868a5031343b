import { describe, expect } from 'vitest';
import type { Database, Tx } from '../../src/contract/transaction.ts';
import { findRetrySizes, listExhausted } from '../../src/rwa/mint-worker/stores/transaction-nft-store.ts';
import { cancelNft, failNfts, refuseNft, requeueFailedNft } from '../../src/rwa/minting/mint-state-store.ts';
import {
  addCompany,
  addNetwork,
  addNft,
  addRwa,
  contractAddress,
  recipient,
  vaultOf,
} from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

const signer = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const [early, late] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];

test.beforeEach(async ({ db }) => {
  await db.raw('TRUNCATE companies, networks, mint_lanes CASCADE');
  await addNetwork(db);
  await addCompany(db, 'acme');
  await db('mint_lanes').insert({ chain_id: 31337, signer });
});

/** An accepted NFT that transactions have tried alone and not minted. @returns the ids of the NFT and of the last transaction */
async function addTried(db: Database, mintState: string, queuedAt: Date, times: number) {
  const { id: nftId } = await addNft(db, vaultOf(['a']), await addRwa(db, 'acme'));
  const queued = { mint_chain_id: 31337, mint_contract: contractAddress, queued_at: queuedAt };
  await db('nfts')
    .where({ id: nftId })
    .update({ mint_state: mintState, recipient, ...queued });
  let last = '';
  for (let nonce = 0; nonce < times; nonce += 1) {
    const block = { mined_hash: `0x${nonce}`, block_number: nonce, block_hash: `0x${nonce}` };
    const [{ id }] = await db('mint_transactions')
      .insert({
        chain_id: 31337,
        signer,
        nonce,
        contract: signer,
        gas_limit: 1,
        fence: 1,
        state: 'reverted',
        ...block,
      })
      .returning('id');
    await db('mint_transaction_nfts').insert({
      transaction_id: id,
      nft_id: nftId,
      token_id: 1,
      recipient,
      state: 'released',
    });
    last = id;
  }
  return { nftId, last };
}

test('what was tried before counts, whatever the clock of the database said then', async ({ db }) => {
  const { nftId, last } = await addTried(db, 'submitted', late, 2);
  expect(await findRetrySizes(db, [nftId])).toEqual(new Map([[nftId, 1]]));
  expect(await db.transaction((tx) => listExhausted(tx, last, [nftId], 1))).toEqual([nftId]);
});

describe('what was tried for a mint that has ended counts no more:', () => {
  const reason = 'why';
  test.for<readonly [string, string, (tx: Tx, nftId: string, last: string) => Promise<unknown>]>([
    ['failed in a transaction', 'submitted', (tx, nftId, last) => failNfts(tx, last, [{ nftId, reason }])],
    ['failed before it was sent', 'queued', (tx, nftId) => refuseNft(tx, { nftId, recipient, reason })],
    ['was cancelled', 'queued', (tx, nftId) => cancelNft(tx, nftId)],
  ])('one that %s', async ([_, mintState, end], { db }) => {
    const { nftId, last } = await addTried(db, mintState, early, 2);
    await db.transaction((tx) => end(tx, nftId, last));
    await db.transaction((tx) => requeueFailedNft(tx, nftId));
    await db('nfts').where({ id: nftId }).update({ queued_at: early });
    expect(await findRetrySizes(db, [nftId])).toEqual(new Map());
  });
});
