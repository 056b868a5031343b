import { describe, expect, onTestFinished } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { listLinesByTurn, listQueuedMints } from '../../src/rwa/mint-worker/stores/queued-nft-store.ts';
import { addCompany, addNetwork, addRwa, contractAddress, recipient } from '../rwa/samples.ts';
import { perFile } from '../support/fixtures.ts';
import { test as base } from '../support/mint-fixtures.ts';
import { type MintChain, startWorker, until } from '../support/minting.ts';
import type { TestService } from '../support/service.ts';
import { planOf, statementsOf } from '../support/statements.ts';

const other = '0x00000000000000000000000000000000000000A2';

/** As the queue of an RWA is after this many accepted mints. */
const queued = (count: string) => `
  INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
    recipient, mint_chain_id, queued_at)
  SELECT r.company_id, r.id, r.number, n, r.number * 18446744073709551616::numeric + n, '\\x00', 'test', 'queued',
    '${recipient}', r.chain_id, now() - interval '1 hour' + n * interval '1 millisecond'
  FROM rwas r CROSS JOIN LATERAL generate_series(1, ${count}) AS n`;

const test = base.extend('chainId', perFile, async ({ db }) => {
  await addNetwork(db);
  for (const id of ['large', 'small', 'tiny']) await addCompany(db, id);
  await addRwa(db, 'large');
  await db.raw(queued('100000'));
  await addRwa(db, 'small');
  await addRwa(db, 'tiny', { contractAddress: other });
  await db.raw(`${queued('3')} WHERE r.company_id <> 'large'`);
  // Its pages marked as visible: the plans below read by the index alone.
  await db.raw('VACUUM (ANALYZE) nfts');
  await db.raw('ANALYZE rwas');
  return '31337';
});

const list = (chainId: string) => ({ chainId, excludedContracts: [], excludedNftIds: [] });

describe('the queue', () => {
  test('is listed as lines of a contract and a company', async ({ db, chainId }) => {
    const inTurn = { ...list(chainId), signer: other, inFlight: [], mostInFlight: 8 };
    const lines = await listLinesByTurn(db, inTurn);
    expect(lines.map(({ companyId, contract }) => [companyId, contract])).toEqual([
      ['large', contractAddress],
      ['tiny', other],
      ['small', contractAddress],
    ]);
    const [, tiny, small] = lines;
    expect(await listLinesByTurn(db, { ...inTurn, excludedContracts: [contractAddress] })).toEqual([tiny]);
    const excludedNftIds = [small?.nftId ?? ''];
    expect(await listLinesByTurn(db, { ...inTurn, excludedNftIds })).toContainEqual({
      ...small,
      nftId: expect.not.stringMatching(small?.nftId ?? ''),
      tokenId: expect.any(String),
    });
  });

  test('gives each company its share of a batch, and the rest to the one whose turn it is', async ({
    db,
    chainId,
  }) => {
    const excludedNftIds: string[] = [];
    const wanted = { chainId, contract: contractAddress, excludedNftIds, limit: 10 };
    const countOf = async (companyIds: string[], limit = 10) => {
      const mints = await listQueuedMints(db, { ...wanted, companyIds, limit });
      return companyIds.map((id) => mints.filter(({ companyId }) => companyId === id).length);
    };
    expect(await countOf(['large', 'small'])).toEqual([7, 3]);
    expect(await countOf(['large', 'small'], 4)).toEqual([2, 2]);
    expect(await countOf(['small', 'large'])).toEqual([3, 5]);
    expect(await countOf(['small', 'large'], 1)).toEqual([1, 0]);
  });

  test('is read by jumps in one index, however long its lines are', async ({ db, chainId }) => {
    const companyIds = ['large', 'small'];
    const page = { chainId, contract: contractAddress, companyIds, excludedNftIds: [], limit: 100 };
    const sent = await statementsOf(db, async () => {
      await listLinesByTurn(db, { ...list(chainId), signer: other, inFlight: [], mostInFlight: 8 });
      await listQueuedMints(db, page);
    });
    for (const statement of sent) {
      const read: number[] = [];
      let plan = '';
      // The least of some: databases that other tests make in this server have a connection read its catalogues again.
      for (let time = 0; time < 3; time += 1) {
        plan = await planOf(db, statement, '(ANALYZE, BUFFERS)');
        read.push(Number(/Buffers: shared hit=(\d+)/.exec(plan)?.[1]));
      }
      expect(plan).toContain('nfts_turns');
      expect(plan).not.toMatch(/Seq Scan on nfts|Sort Key: nfts\.queued_at/);
      expect(Math.min(...read), plan).toBeLessThan(200);
    }
  });
});

describe('companies', () => {
  /** A transaction of these companies, as it is sent. */
  async function send(db: Database, nonce: number, ...companies: string[]): Promise<string> {
    const transaction = { chain_id: '31337', signer: other, nonce, contract: contractAddress };
    const [{ id }] = await db('mint_transactions')
      .insert({ ...transaction, gas_limit: 100_000, fence: 1, company_ids: companies })
      .returning('id');
    return id;
  }

  test('take turns, each with at most half of the transactions in flight', async ({ db, chainId }) => {
    await db('mint_lanes').insert({ chain_id: chainId, signer: other }).onConflict().ignore();
    const inTurn = async (inFlight: readonly string[]) => {
      const wanted = { ...list(chainId), signer: other, inFlight, mostInFlight: 2 };
      const lines = await listLinesByTurn(db, wanted);
      return lines.map(({ companyId, hasRoom }) => (hasRoom ? companyId : `(${companyId})`));
    };
    // Nobody was served: the one that has waited longest is first.
    expect(await inTurn([])).toEqual(['large', 'tiny', 'small']);
    const sent = [await send(db, 0, 'large')];
    expect(await inTurn(sent)).toEqual(['tiny', 'small', 'large']);
    sent.push(await send(db, 1, 'small', 'tiny'), await send(db, 2, 'large'));
    expect(await inTurn(sent)).toEqual(['tiny', 'small', '(large)']);
    // What is in a block is not in flight any more.
    expect(await inTurn(sent.slice(1))).toEqual(['tiny', 'small', 'large']);
    await db('mint_transactions').delete();
  });
});

describe('a mint of another company', () => {
  type Sent = { readonly nonce: string; readonly hash: string };

  const findSent = (db: Database, nftId: string): Promise<Sent | undefined> =>
    db('mint_transaction_nfts as l')
      .join('mint_transactions as t', 't.id', 'l.transaction_id')
      .join('mint_attempts as a', 'a.transaction_id', 't.id')
      .where('l.nft_id', nftId)
      .first('t.nonce', 'a.hash');

  const lastNonce = async (db: Database) => Number((await db('mint_transactions').max('nonce'))[0]?.['max']);
  const countOf = async (db: Database, state: string) =>
    Number((await db('nfts').where('mint_state', state).count())[0]?.['count']);

  /** Mints one NFT, and waits until its transaction is at the node. @returns how many nonces were between */
  async function mintBetween(service: TestService, chain: MintChain, rwaId: string): Promise<number> {
    const { db } = service;
    const { body } = await service
      .as(service.keys.globex)
      .post(`/v1/api/rwa/${rwaId}/mint`)
      .send({})
      .expect(200);
    const before = await lastNonce(db);
    let sent: Sent | undefined;
    const isAtNode = async () => {
      sent = await findSent(db, body.nftId);
      return sent !== undefined && (await chain.call('eth_getTransactionByHash', sent.hash)) !== null;
    };
    await until('the mint at the node', isAtNode, 300);
    return Number(sent?.nonce) - before;
  }

  test('is among the next two transactions while 100,000 wait, without a block and behind full batches', async ({
    mintChain: chain,
    mintService: service,
  }) => {
    const { db, companies } = service;
    const contractOf = { isClaimable: true, contractAddress: chain.contract };
    const large = await addRwa(db, companies.acme, contractOf);
    await db.raw(`${queued('100000')} WHERE r.id = ?`, [large.id]);
    await db('rwas').where({ id: large.id }).update({ total_nfts: 100_000, last_serial: 100_000 });
    const small = await addRwa(db, companies.globex, contractOf);
    const worker = await startWorker(service, chain);
    const inFlight = async () => Number((await db('mint_transactions').count())[0]?.['count']);
    // While batches are being sent, and when the neighbour has as many under way as it may have.
    for (const transactions of [2, 8]) {
      await until('batches', async () => (await inFlight()) >= transactions, 300);
      // Behind the batch that was being made, at most.
      expect(await mintBetween(service, chain, small.id)).toBeLessThanOrEqual(2);
    }
    // A block a second, so that the lane has full batches to settle whenever it could send.
    await chain.call('evm_setAutomine', false);
    const mining = setInterval(() => void chain.mine(), 1_000);
    onTestFinished(() => clearInterval(mining));
    for (const minted of [200, 1_000, 2_000]) {
      await until('minted batches', async () => (await countOf(db, 'minted')) >= minted, 300);
      expect(await mintBetween(service, chain, small.id)).toBeLessThanOrEqual(2);
    }
    await worker.stop();
  });
});
