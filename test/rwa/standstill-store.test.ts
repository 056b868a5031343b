import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import {
  deleteOutdatedNotes,
  isQueueStill,
  noteStillSubmitted,
} from '../../src/rwa/mint-worker/stores/standstill-store.ts';
import { test } from '../support/fixtures.ts';
import { addCompany, addNetwork, addNft, addRwa, contractAddress, recipient, vaultOf } from './samples.ts';

const signer = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const lane = { chainId: '31337', signer };
const still = { lane, seconds: 60 };
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);

test.beforeEach(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
  for (const table of [
    'mint_notes',
    'mint_transaction_nfts',
    'mint_attempts',
    'mint_transactions',
    'nfts',
    'mint_lanes',
  ])
    await db(table).delete();
  await db('mint_lanes').insert({ chain_id: 31337, signer });
});

/** An NFT that has been in its state, and in the queue, for so long. */
async function addMint(db: Database, state: string, seconds: number, company = 'acme'): Promise<string> {
  const { id } = await addNft(db, vaultOf(['a']), await addRwa(db, company));
  const queued = { mint_chain_id: 31337, mint_contract: contractAddress, queued_at: ago(seconds) };
  await db('nfts')
    .where({ id })
    .update({ mint_state: state, recipient, ...queued });
  // Apart: the trigger sets it with every other change.
  await db('nfts')
    .where({ id })
    .update({ updated_at: ago(seconds) });
  return id;
}

async function addTransaction(
  db: Database,
  nonce: number,
  seconds: number,
  nftIds: string[],
): Promise<string> {
  const [{ id }] = await db('mint_transactions')
    .insert({
      chain_id: 31337,
      signer,
      nonce,
      contract: signer,
      gas_limit: 1,
      fence: 1,
      created_at: ago(seconds),
    })
    .returning('id');
  const attempt = { transaction_id: id, number: 1, hash: `0x${nonce}`, raw: Buffer.alloc(1) };
  await db('mint_attempts').insert({ ...attempt, max_fee_per_gas: 1, sent_at_block: 9, fence: 1 });
  for (const nft of nftIds)
    await db('mint_transaction_nfts').insert({ transaction_id: id, nft_id: nft, token_id: 1, recipient });
  return id;
}

const noted = async (db: Database) => (await db('mint_notes')).map(({ nft_id: id }) => id);
const pause = (db: Database, reason: string | null) =>
  db('mint_lanes').update({ pause_reason: reason, pause_detail: reason, paused_at: reason && new Date() });

describe('an NFT in a transaction is noted', () => {
  type Known = Parameters<typeof noteStillSubmitted>[2];
  const note = (db: Database, known: Known = new Map(), why: Parameters<typeof noteStillSubmitted>[3] = {}) =>
    db.transaction((tx) => noteStillSubmitted(tx, still, known, why));

  test('not while its transaction waits for its block to become final, unless nothing becomes final', async ({
    db,
  }) => {
    const id = await addTransaction(db, 0, 90, [await addMint(db, 'submitted', 90)]);
    const settling = new Map([[id, { isSettling: true }]]);
    await note(db, settling);
    expect(await noted(db)).toEqual([]);
    const notFinal = 'Too few nodes.';
    await note(db, settling, { notFinal });
    expect(await db('mint_notes')).toMatchObject([{ reason: 'finality_unknown', detail: notFinal }]);
  });

  test.for(['operator', 'recovery_needed', 'signer_unavailable'] as const)(
    'when nothing becomes final, until blocks do, also while its lane sends nothing: %s',
    async (reason, { db }) => {
      const nft = await addMint(db, 'submitted', 90);
      const id = await addTransaction(db, 0, 90, [nft]);
      await pause(db, reason);
      const notFinal = 'Too few nodes.';
      const settling = new Map([[id, { isSettling: true }]]);
      const why = { pause: { reason, detail: 'why' }, notFinal };
      await note(db, settling, why);
      expect(await db('mint_notes')).toMatchObject([{ reason: 'finality_unknown', detail: notFinal }]);
      const clean = (text?: string) => db.transaction((tx) => deleteOutdatedNotes(tx, lane, text));
      await clean(notFinal);
      expect(await noted(db)).toEqual([nft]);
      await clean();
      expect(await noted(db)).toEqual([]);
    },
  );

  test('when it has not moved for too long, with what is known, and once', async ({ db }) => {
    const old = await addMint(db, 'submitted', 61);
    const fresh = await addMint(db, 'submitted', 5);
    const transaction = await addTransaction(db, 4, 61, [old, fresh]);
    await note(db, new Map([[transaction, { answer: 'underpriced' }]]));
    await note(db);
    expect(await db('mint_notes')).toMatchObject([
      {
        nft_id: old,
        reason: 'unexplained',
        detail: 'Submitted with nonce 4 in 1 attempts, the last 0x4. The node last said: underpriced.',
      },
    ]);
  });

  test('not when its lane or a note says why, but when the lane only sends nothing new', async ({ db }) => {
    const id = await addMint(db, 'submitted', 61);
    await addTransaction(db, 4, 61, [id]);
    await pause(db, 'nodes_unavailable');
    await note(db);
    expect(await noted(db)).toEqual([]);
    await pause(db, 'contract_refuses');
    await note(db);
    expect(await noted(db)).toEqual([id]);
  });
});

describe('a queued NFT', () => {
  test('makes the queue one that stands, when nothing was sent for as long; not with a note of its own', async ({
    db,
  }) => {
    expect(await isQueueStill(db, still)).toBe(false);
    const id = await addMint(db, 'queued', 70);
    expect(await isQueueStill(db, still)).toBe(true);
    await addTransaction(db, 4, 65, [await addMint(db, 'submitted', 100)]);
    expect(await isQueueStill(db, still)).toBe(true);
    await db('mint_notes').insert({ nft_id: id, reason: 'contract_refuses', detail: '' });
    expect(await isQueueStill(db, still)).toBe(false);
  });
});

describe('a note ends', () => {
  const clean = (db: Database) => db.transaction((tx) => deleteOutdatedNotes(tx, lane, undefined));

  test('when its NFT has moved since, and not before', async ({ db }) => {
    const kept = await addMint(db, 'submitted', 100);
    const moved = await addMint(db, 'submitted', 10);
    const done = await addMint(db, 'failed', 100);
    for (const id of [kept, moved, done])
      await db('mint_notes').insert({ nft_id: id, reason: 'contract_refuses', detail: '', since: ago(50) });
    await clean(db);
    expect(await noted(db)).toEqual([kept]);
  });

  test('when it said that nothing is known, and the lanes say it now', async ({ db }) => {
    const id = await addMint(db, 'queued', 100);
    await db('mint_notes').insert({ nft_id: id, reason: 'unexplained', detail: '' });
    await clean(db);
    expect(await noted(db)).toEqual([id]);
    await pause(db, 'fee_above_cap');
    await clean(db);
    expect(await noted(db)).toEqual([]);
  });
});
