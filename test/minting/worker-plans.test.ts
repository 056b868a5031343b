import { expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { lockQueuedMints } from '../../src/rwa/mint-worker/stores/queued-nft-store.ts';
import {
  closeMintedNfts,
  insertTransactionNfts,
} from '../../src/rwa/mint-worker/stores/transaction-nft-store.ts';
import { mintNfts, submitNfts, unmintNfts } from '../../src/rwa/minting/mint-state-store.ts';
import { addCompany, addManyNfts, addNetwork, addRwa, recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { planOf, statementsOf } from '../support/statements.ts';

const transaction = {
  id: '5d2b0c0e-5a4c-4f0b-9d5e-0d7a5f6f3a10',
  chain_id: 31337,
  signer: recipient,
  nonce: 1,
  contract: recipient,
  gas_limit: 1,
  fence: 1,
  state: 'confirmed',
  mined_hash: `0x${'1'.repeat(64)}`,
  block_number: '9',
  block_hash: '0x9',
};
const block = { hash: transaction.mined_hash, blockNumber: 9n, time: new Date() };

// For the planner no NFT has ever been queued or minted: that is what a burst leaves until the table is analysed again.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'large');
  await addRwa(db, 'large');
  await addManyNfts(db, 20_000);
  await db.raw(`
    ALTER TABLE mint_transaction_nfts SET (autovacuum_enabled = false);
    UPDATE rwas SET last_serial = 20000, total_nfts = 20000, claimed_nfts = 10000;
  `);
  await db.raw('ANALYZE nfts, mint_transaction_nfts');
  await db.raw(
    `UPDATE nfts SET mint_state = 'queued', recipient = ?, mint_chain_id = 31337, queued_at = now() WHERE serial <= 10000`,
    [recipient],
  );
  await db.raw(
    `UPDATE nfts SET mint_state = 'minted', recipient = ?, minted_at = now(), minted_tx = ?, minted_block = 1
     WHERE serial > 10000`,
    [recipient, block.hash],
  );
  await db('mint_lanes').insert({ chain_id: 31337, signer: recipient });
  await db('mint_transactions').insert(transaction);
});

/** As a lane takes some NFTs through all states. */
async function mint(db: Database, nfts: readonly { id: string; token_id: string }[]): Promise<void> {
  const ids = nfts.map(({ id }) => id);
  const mints = nfts.map((nft) => ({ nftId: nft.id, recipient, tokenId: nft.token_id, companyId: '' }));
  await db.transaction(async (tx) => {
    expect(await lockQueuedMints(tx, mints)).toEqual([]);
    await insertTransactionNfts(tx, transaction.id, mints);
    await submitNfts(tx, ids);
    expect(
      await mintNfts(
        tx,
        ids.map((nftId) => ({ nftId, in: block })),
      ),
    ).toHaveLength(ids.length);
    expect(await unmintNfts(tx, ids)).toBe(ids.length);
    await mintNfts(
      tx,
      ids.map((nftId) => ({ nftId, in: block })),
    );
    await closeMintedNfts(tx, transaction.id);
  });
}

test('NFTs of a batch are found by their ids, however many others have their state', async ({ db }) => {
  const nfts = await db('nfts').whereRaw('serial % 200 = 7').where('mint_state', 'queued').orderBy('id');
  const sent = await statementsOf(db, () => mint(db, nfts));
  expect(await db('mint_transaction_nfts').where('state', 'minted')).toHaveLength(nfts.length);
  const ofNfts = sent.filter(({ sql }) => /\bnfts\b/.test(sql));
  expect(ofNfts.length).toBeGreaterThanOrEqual(9);
  for (const statement of ofNfts) {
    const plan = await planOf(db, statement);
    expect(plan).not.toMatch(/nfts_(turns|queue|minted_in|not_minted|in_state)|Seq Scan on nfts/);
  }
});
