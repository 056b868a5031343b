import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { mintReasons } from '../../src/rwa/minting/mint-reason.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { addNft, addRwa, recipient, serviceVault } from './samples.ts';

const lanes = ['0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'];

const test = base.extend('nft', perFile, async ({ db, service }) => {
  const rwa = await addRwa(db, service.companies.acme);
  const nft = await addNft(db, serviceVault, rwa);
  return nft;
});

const setState = (db: Database, id: string, state: string) =>
  db('nfts')
    .where({ id })
    .update({ mint_state: state, recipient, mint_chain_id: 31337, queued_at: new Date() });
const pause = (db: Database, signers: readonly string[], reason: string | null) =>
  db('mint_lanes')
    .whereIn('signer', [...signers])
    .update({ pause_reason: reason, pause_detail: reason && 'why', paused_at: reason && new Date() });
const addNote = (db: Database, id: string, reason: string) =>
  db('mint_notes').insert({ nft_id: id, reason, detail: 'For operators only.' });

test.beforeEach(async ({ db, nft }) => {
  for (const table of ['mint_notes', 'mint_transaction_nfts', 'mint_transactions', 'mint_lanes'])
    await db(table).delete();
  await db('mint_lanes').insert(lanes.map((signer) => ({ chain_id: 31337, signer })));
  await setState(db, nft.id, 'queued');
});

const noted = test.extend('note', async ({ acme, nft }) => async () => {
  const one = (await acme.get(`/v1/api/nft/${nft.id}`)).body;
  const [ofAll] = (await acme.get('/v1/api/nft')).body;
  const [ofRwa] = (await acme.get(`/v1/api/rwa/${nft.rwaId}/nfts`)).body;
  expect([ofAll.mintNote, ofRwa.mintNote]).toEqual([one.mintNote, one.mintNote]);
  return one.mintNote;
});

describe('the note of a mint says why it does not move:', () => {
  noted('nothing while a lane of its network goes on', async ({ db, note }) => {
    expect(await note()).toBeNull();
    await pause(db, lanes.slice(1), 'fee_above_cap');
    expect(await note()).toBeNull();
  });

  noted('the reason of the lanes when all of them stand, without a row of its own', async ({ db, note }) => {
    await pause(db, lanes, 'fee_above_cap');
    expect(await note()).toBe(mintReasons.fee_above_cap.note);
    await db('mint_lanes').update({ stopped_by_operator: true });
    expect(await note()).toBe(mintReasons.operator.note);
    expect(await db('mint_notes')).toEqual([]);
  });

  noted(
    'its own reason before that of the lanes, and never what operators are told',
    async ({ db, nft, note }) => {
      await pause(db, lanes, 'fee_above_cap');
      await addNote(db, nft.id, 'contract_refuses');
      expect(await note()).toBe(mintReasons.contract_refuses.note);
      await db('mint_notes').update({ reason: 'of_a_newer_release' });
      expect(await note()).toBe(mintReasons.unexplained.note);
    },
  );

  noted('that nobody works on it, when no process has held a lane for a minute', async ({ db, note }) => {
    const gone = { staffed_at: new Date(Date.now() - 61_000) };
    await db('mint_lanes').whereIn('signer', lanes.slice(1)).update(gone);
    expect(await note()).toBeNull();
    await db('mint_lanes').update(gone);
    expect(await note()).toBe(mintReasons.no_worker.note);
  });

  noted('what keeps its own lane, once it is in a transaction of that', async ({ db, nft, note }) => {
    await setState(db, nft.id, 'submitted');
    const [{ id }] = await db('mint_transactions')
      .insert({ chain_id: 31337, signer: lanes[0], nonce: 4, contract: lanes[0], gas_limit: 1, fence: 1 })
      .returning('id');
    await db('mint_transaction_nfts').insert({ transaction_id: id, nft_id: nft.id, token_id: 1, recipient });
    await pause(db, lanes.slice(1), 'nodes_unavailable');
    expect(await note()).toBeNull();
    await pause(db, lanes.slice(0, 1), 'nodes_unavailable');
    expect(await note()).toBe(mintReasons.nodes_unavailable.note);
    // Nothing new is sent then; what is sent moves on.
    await pause(db, lanes, 'recovery_needed');
    expect(await note()).toBeNull();
  });

  noted(
    'what keeps a lane from watching, also while an operator has stopped it',
    async ({ db, nft, note }) => {
      await setState(db, nft.id, 'submitted');
      const [{ id }] = await db('mint_transactions')
        .insert({ chain_id: 31337, signer: lanes[0], nonce: 5, contract: lanes[0], gas_limit: 1, fence: 1 })
        .returning('id');
      await db('mint_transaction_nfts').insert({
        transaction_id: id,
        nft_id: nft.id,
        token_id: 2,
        recipient,
      });
      await db('mint_lanes').update({ stopped_by_operator: true });
      expect(await note()).toBeNull();
      await pause(db, lanes, 'nodes_disagree');
      expect(await note()).toBe(mintReasons.nodes_disagree.note);
      await db('mint_lanes').update({ staffed_at: new Date(Date.now() - 61_000) });
      expect(await note()).toBe(mintReasons.no_worker.note);
    },
  );

  noted('nothing of a mint that is not under way', async ({ db, nft, note }) => {
    await pause(db, lanes, 'fee_above_cap');
    await addNote(db, nft.id, 'contract_refuses');
    for (const state of ['unclaimed', 'failed']) {
      await setState(db, nft.id, state);
      expect(await note()).toBeNull();
    }
  });
});
