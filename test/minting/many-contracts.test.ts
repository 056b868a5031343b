import { getAddress, toBeHex } from 'ethers';
import { describe, expect } from 'vitest';
import type { Head } from '../../src/chain/minting/mint-node.ts';
import type { Database } from '../../src/contract/transaction.ts';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createLaneMemory } from '../../src/rwa/mint-worker/context/lane-memory.ts';
import { send } from '../../src/rwa/mint-worker/send/send.ts';
import { addCompany, addNetwork, addRwa, recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { statementsOf } from '../support/statements.ts';

const chainId = '31337';
const signer = '0x00000000000000000000000000000000000000A2';
const count = 30;
const contractAt = (place: number) => getAddress(toBeHex(0xc000 + place, 20));
const contracts = Array.from({ length: count }, (_, place) => contractAt(place));
const head = { number: 100n, hash: '0x64', baseFee: null, gasLimit: 30_000_000n } as Head; // what sending looks at

test.beforeEach(async ({ db }) => {
  await db.raw('TRUNCATE companies, networks, mint_lanes CASCADE');
  await addNetwork(db);
  await db('mint_lanes').insert({ chain_id: chainId, signer });
  await addCompany(db, 'large');
  for (const contractAddress of contracts) await queueOne(db, 'large', contractAddress);
});

/** Queues one NFT for a contract. */
async function queueOne(db: Database, companyId: string, contractAddress: string) {
  await addCompany(db, companyId).catch(() => {});
  const { id } = await addRwa(db, companyId, { contractAddress });
  await db.raw(
    `INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
       recipient, mint_chain_id, queued_at)
     SELECT company_id, id, number, 1, number * 18446744073709551616::numeric + 1, '\\x00', 'test', 'queued',
       '${recipient}', chain_id, clock_timestamp() FROM rwas WHERE id = ?`,
    [id],
  );
}

/** A transaction in flight, of all that the lane may have. */
async function fill(db: Database) {
  const transaction = {
    chain_id: chainId,
    signer,
    nonce: 0,
    contract: contractAt(0),
    gas_limit: 1,
    fence: 0,
  };
  const [row] = await db('mint_transactions').insert(transaction).returning('id');
  await db('mint_attempts').insert({
    transaction_id: row.id,
    number: 1,
    hash: '0x01',
    raw: Buffer.alloc(1),
    max_fee_per_gas: 1,
    sent_at_block: 1,
    fence: 0,
  });
}

type Told = { readonly refuses: (contract: string) => boolean; readonly secondsOfAnswer?: number };

/** A lane that may have one transaction in flight; each poll tells of which contracts it has asked what a mint would do. */
function startLane(db: Database, { refuses, secondsOfAnswer = 0 }: Told) {
  let nowMs = 0;
  let asked: string[] = [];
  const memory = createLaneMemory();
  memory.market = { hash: head.hash, market: { baseFee: null, suggested: 1n } };
  memory.gapLookedAt = head.hash;
  const node = {
    lookAt: async () => 'contract',
    ownerOf: async () => null,
    async estimate(_from: string, contract: string) {
      nowMs += secondsOfAnswer * 1_000;
      asked.push(contract);
      return refuses(contract) ? { refusal: 'no' } : 100_000n;
    },
  };
  const compared = { ...memory.compared, contracts: { has: () => true } };
  const context = {
    db,
    node,
    lease: { chainId, signer, fence: '0', holder: '' },
    network: { confirmations: 1 },
    signer: { address: signer },
    settings: { maxInFlight: 1, feeCap: 10n },
    step: () => {},
    memory: { ...memory, compared },
    now: () => nowMs,
    stopping: new AbortController().signal,
  } as unknown as LaneContext; // what sending without room looks at
  return async () => {
    asked = [];
    const pause = await send(context, head);
    return { asked: [...new Set(asked)], pause: pause?.reason };
  };
}

const all = () => true;
const sorted = (addresses: readonly string[]) => addresses.toSorted();

describe('a lane without room, before a queue of many contracts', () => {
  test('asks about ten of them in a poll, and in turn about all', async ({ db }) => {
    await fill(db);
    const poll = startLane(db, { refuses: all });
    const rounds = [await poll(), await poll(), await poll()];
    expect(rounds.map(({ asked }) => asked.length)).toEqual([10, 10, 10]);
    expect(sorted(rounds.flatMap(({ asked }) => asked))).toEqual(sorted(contracts));
    expect(sorted((await poll()).asked)).toEqual(sorted(rounds[0]?.asked ?? []));
  });

  test('asks about none that it knows, and reads the queue once more only', async ({ db }) => {
    await fill(db);
    const poll = startLane(db, { refuses: () => false });
    for (let round = 0; round < 3; round += 1) await poll();
    let last: Awaited<ReturnType<typeof poll>> | undefined;
    const statements = await statementsOf(db, async () => {
      last = await poll();
    });
    expect(last).toEqual({ asked: [], pause: undefined });
    expect(statements.length).toBeLessThan(10);
  });

  test('asks first about a contract of another company', async ({ db }) => {
    await fill(db);
    const poll = startLane(db, { refuses: all });
    await poll();
    await queueOne(db, 'small', contractAt(count));
    expect((await poll()).asked[0]).toBe(contractAt(count));
  });

  test('stores why one is refused, for as long as that lasts, and pauses no lane for it', async ({ db }) => {
    await fill(db);
    let refused: string | undefined = contracts[0];
    const poll = startLane(db, { refuses: (contract) => contract === refused });
    const stored = () => db('mint_contracts').whereNotNull('pause_reason').select('contract', 'pause_reason');
    for (let round = 0; round < 4; round += 1) expect((await poll()).pause).toBeUndefined();
    expect(await stored()).toEqual([{ contract: refused, pause_reason: 'contract_refuses' }]);
    refused = undefined;
    for (let round = 0; round < 4; round += 1) await poll();
    expect(await stored()).toEqual([]);
  });
});

describe('a lane with room, before many contracts that refuse', () => {
  test('asks about ten of them in a poll', async ({ db }) => {
    const poll = startLane(db, { refuses: all });
    expect((await poll()).asked).toHaveLength(10);
  });

  test('comes back to what is in flight after some seconds, where each answer takes one', async ({ db }) => {
    const poll = startLane(db, { refuses: all, secondsOfAnswer: 1 });
    const rounds = [await poll(), await poll()].map(({ asked }) => asked);
    for (const asked of rounds) expect(asked.length).toBeLessThan(5);
    expect(new Set(rounds.flat()).size).toBe(rounds.flat().length);
  });
});
