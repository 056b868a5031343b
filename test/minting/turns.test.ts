import { describe, expect, onTestFinished } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createTurns, inTurn } from '../../src/rwa/mint-worker/context/turn-memory.ts';
import { withinShares } from '../../src/rwa/mint-worker/send/turns.ts';
import {
  listQueuedLines,
  listQueuedMints,
  type QueuedLine,
} from '../../src/rwa/mint-worker/stores/queued-nft-store.ts';
import type { OpenTransaction } from '../../src/rwa/mint-worker/stores/transaction-store.ts';
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

describe('the order of companies', () => {
  const line = (companyId: string, second: number) =>
    ({ companyId, queuedAt: new Date(second * 1_000) }) as QueuedLine; // what the order looks at

  test('is that of their last turns, then of waiting', () => {
    const lines = [line('a', 1), line('b', 4), line('c', 3), line('d', 2)];
    const served = new Map([
      ['a', 9],
      ['d', 2],
    ]);
    expect(inTurn(lines, served).map(({ companyId }) => companyId)).toEqual(['c', 'b', 'd', 'a']);
  });
});

const list = (chainId: string, more: object = {}) => ({
  chainId,
  after: undefined,
  excludedContracts: [],
  excludedNftIds: [],
  ...more,
});

describe('the queue', () => {
  test('is listed as lines of a contract and a company', async ({ db, chainId }) => {
    const lines = await listQueuedLines(db, list(chainId));
    expect(lines.map(({ companyId, contract }) => [companyId, contract])).toEqual([
      ['tiny', other],
      ['large', contractAddress],
      ['small', contractAddress],
    ]);
    expect(await listQueuedLines(db, list(chainId, { after: lines[1] }))).toEqual([lines[2]]);
    expect(await listQueuedLines(db, list(chainId, { excludedContracts: [contractAddress] }))).toEqual([
      lines[0],
    ]);
    const [, , small] = lines;
    const nextOfSmall = await listQueuedLines(db, list(chainId, { excludedNftIds: [small?.nftId] }));
    expect(nextOfSmall[2]).toMatchObject({
      companyId: 'small',
      nftId: expect.not.stringMatching(small?.nftId ?? ''),
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
      await listQueuedLines(db, list(chainId));
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

describe('the share of a company in flight', () => {
  /** A transaction of each of these companies, as they are sent. */
  async function send(db: Database, nonce: number, ...companies: string[]): Promise<OpenTransaction> {
    const transaction = { chain_id: '31337', signer: other, nonce, contract: contractAddress };
    const [{ id }] = await db('mint_transactions')
      .insert({ ...transaction, gas_limit: 100_000, fence: 1 })
      .returning('id');
    await db.raw(
      `INSERT INTO mint_transaction_nfts (transaction_id, nft_id, token_id, recipient)
       SELECT ?, n.id, n.token_id, n.recipient FROM unnest(?::text[]) AS c (id)
       CROSS JOIN LATERAL (SELECT * FROM nfts WHERE company_id = c.id LIMIT 1 OFFSET ?) n`,
      [id, companies, nonce % 3],
    );
    return { id } as OpenTransaction; // what the shares look at
  }

  /** @returns the companies whose lines are within their shares, of four transactions in flight */
  async function prepare(db: Database, chainId: string) {
    const context = {
      db,
      settings: { maxInFlight: 4 },
      memory: { turns: createTurns() },
    } as unknown as LaneContext; // what the shares look at
    await db('mint_transaction_nfts').delete();
    await db('mint_transactions').delete();
    await db('mint_lanes').insert({ chain_id: chainId, signer: other }).onConflict().ignore();
    const lines = await listQueuedLines(db, list(chainId));
    return async (
      inFlight: readonly OpenTransaction[],
      of: readonly string[] = ['tiny', 'large', 'small'],
    ) => {
      const asked = lines.filter(({ companyId }) => of.includes(companyId));
      return (await withinShares(context, asked, inFlight)).map(({ companyId }) => companyId);
    };
  }

  test('is three quarters where it is alone', async ({ db, chainId }) => {
    const companiesBeside = await prepare(db, chainId);
    const sent = [await send(db, 0, 'large'), await send(db, 1, 'large')];
    expect(await companiesBeside(sent, ['large'])).toEqual(['large']);
    sent.push(await send(db, 2, 'large'));
    expect(await companiesBeside(sent, ['large'])).toEqual([]);
  });

  test('leaves as many free beside others, or a third of it while it is less than an equal share', async ({
    db,
    chainId,
  }) => {
    const companiesBeside = await prepare(db, chainId);
    const sent = [await send(db, 0, 'large')];
    expect(await companiesBeside(sent)).toEqual(['tiny', 'large', 'small']);
    sent.push(await send(db, 1, 'large', 'small'));
    expect(await companiesBeside(sent)).toEqual(['tiny', 'small']);
    expect(await companiesBeside([...sent, await send(db, 2, 'large')])).toEqual(['tiny', 'small']);
    expect(await companiesBeside([...sent, await send(db, 3, 'small')])).toEqual(['tiny']);
    expect(await companiesBeside([...sent, ...sent])).toEqual([]);
  });

  test('is read of each transaction once', async ({ db, chainId }) => {
    const companiesBeside = await prepare(db, chainId);
    const sent = [await send(db, 0, 'large'), await send(db, 1, 'large')];
    expect(await companiesBeside(sent)).toEqual(['tiny', 'small']);
    await db('mint_transaction_nfts').delete();
    expect(await companiesBeside(sent)).toEqual(['tiny', 'small']);
    sent[0] = await send(db, 2, 'small');
    expect(await companiesBeside(sent)).toEqual(['tiny', 'large', 'small']);
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
    await until('the mint at the node', isAtNode, 2);
    return Number(sent?.nonce) - before;
  }

  test('is at the node within 2 s while 100,000 wait, without a block and behind full batches', async ({
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
    for (const transactions of [2, 12]) {
      await until('batches', async () => (await inFlight()) >= transactions, 60);
      // Behind the batch that was being made, at most.
      expect(await mintBetween(service, chain, small.id)).toBeLessThanOrEqual(2);
    }
    // A block a second, so that the lane has full batches to settle whenever it could send.
    await chain.call('evm_setAutomine', false);
    const mining = setInterval(() => void chain.mine(), 1_000);
    onTestFinished(() => clearInterval(mining));
    for (const minted of [200, 1_000, 2_000]) {
      await until('minted batches', async () => (await countOf(db, 'minted')) >= minted, 60);
      expect(await mintBetween(service, chain, small.id)).toBeLessThanOrEqual(2);
    }
    await worker.stop();
  });
});
