import { getAddress, toBeHex } from 'ethers';
import { describe, expect } from 'vitest';
import type { Head } from '../../src/chain/minting/mint-node.ts';
import { NodesUnavailableError } from '../../src/chain/rpc/transport/node-fault.ts';
import type { Database } from '../../src/contract/transaction.ts';
import type { LaneContext } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { createLaneMemory } from '../../src/rwa/mint-worker/context/lane-memory.ts';
import { send } from '../../src/rwa/mint-worker/send/send.ts';
import { addCompany, addNetwork, addRwa, recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

const chainId = '31337';
const signer = '0x00000000000000000000000000000000000000A2';
const count = 30;
const contractAt = (place: number) => getAddress(toBeHex(0xc000 + place, 20));
const contracts = Array.from({ length: count }, (_, place) => contractAt(place));
const head = { number: 100n, hash: '0x64', baseFee: null, gasLimit: 30_000_000n } as Head; // what sending looks at

test.beforeEach(async ({ db }) => {
  await db.raw('TRUNCATE companies, networks, mint_lanes, mint_contracts CASCADE');
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

type Told = {
  readonly refuses?: (contract: string) => boolean;
  /** Of these a node gives no answer in time. */
  readonly hangs?: (contract: string) => boolean;
  /** What a mint on a contract uses. */
  readonly gasOf?: (contract: string) => bigint;
  /** In wei, at a price of 1 wei for a unit of gas. */
  readonly balance?: bigint;
};

/** A lane whose contracts refuse; each poll tells of which it has asked what a mint would do. */
function startLane(
  db: Database,
  { refuses = () => false, hangs = () => false, gasOf = () => 100_000n, balance = 10n ** 18n }: Told,
) {
  let nowMs = 0;
  let asked: string[] = [];
  const memory = createLaneMemory();
  memory.market = { hash: head.hash, market: { baseFee: null, suggested: 1n } };
  memory.gapLookedAt = head.hash;
  const node = {
    lookAt: async () => 'contract',
    ownerOf: async () => null,
    balance: async () => balance,
    chainId: async () => BigInt(chainId),
    preferOthers() {},
    transactionCount: async () => 1n,
    finalized: -1n,
    async estimate(_from: string, contract: string) {
      asked.push(contract);
      if (hangs(contract)) {
        nowMs += timeoutMs;
        throw new NodesUnavailableError(chainId, [{ url: 'node', message: 'late', reason: 'timeout' }]);
      }
      return refuses(contract) ? { refusal: 'no' } : gasOf(contract);
    },
  };
  const compared = { ...memory.compared, contracts: { has: () => true } };
  const context = {
    db,
    node,
    lease: { chainId, signer, fence: '0', holder: '' },
    network: { chainId, confirmations: 1, minTip: '0' },
    signer: { address: signer },
    settings: { maxInFlight: 4, feeCap: 10n, blockShare: 50, pollMs: 1_000 },
    step: () => {},
    memory: { ...memory, compared },
    now: () => nowMs,
    stopping: new AbortController().signal,
  } as unknown as LaneContext; // what sending looks at
  return async (seconds = 0) => {
    nowMs += seconds * 1_000;
    asked = [];
    const begunMs = nowMs;
    const pause = await send(context, head, { hasQueued: true, refresh: undefined });
    return { asked: [...new Set(asked)], pause: pause?.reason, ms: nowMs - begunMs };
  };
}

const all = () => true;
const timeoutMs = 5_000;
const sorted = (addresses: readonly string[]) => addresses.toSorted();

describe('a lane before many contracts that refuse', () => {
  test('asks about ten of them in a poll, and in turn about all; then they rest', async ({ db }) => {
    const poll = startLane(db, { refuses: all });
    const rounds = [await poll(), await poll(), await poll()];
    expect(rounds.map(({ asked }) => asked.length)).toEqual([10, 10, 10]);
    expect(sorted(rounds.flatMap(({ asked }) => asked))).toEqual(sorted(contracts));
    expect(await poll()).toEqual({ asked: [], pause: undefined, ms: 0 });
    expect((await poll(2)).asked).toHaveLength(10);
  });

  test('asks about contracts of others in the same poll', async ({ db }) => {
    const sound = contractAt(count);
    await queueOne(db, 'small', sound);
    const poll = startLane(db, { refuses: (contract) => contract !== sound });
    expect((await poll()).asked).toContain(sound);
  });

  test('waits twice at most in a poll for a node that hangs, and asks about what has not failed in each', async ({
    db,
  }) => {
    const sound = contractAt(count);
    await queueOne(db, 'large', sound);
    const poll = startLane(db, { hangs: (contract) => contract !== sound });
    const rounds = [];
    for (let round = 0; round < 2 * count; round += 1) rounds.push(await poll(1));
    expect(Math.max(...rounds.map(({ ms }) => ms))).toBe(2 * timeoutMs);
    expect(sorted([...new Set(rounds.flatMap(({ asked }) => asked))])).toEqual(sorted([...contracts, sound]));
    // As if nothing hung: it waits for a count, without which nothing is sent.
    const last = rounds.slice(count);
    expect(last.filter(({ asked }) => !asked.includes(sound))).toEqual([]);
    expect(Math.max(...last.map(({ ms }) => ms))).toBe(timeoutMs);
  });

  test('stores why one is refused, for as long as that lasts, and pauses no lane for it', async ({ db }) => {
    await db('nfts')
      .whereNot('mint_contract', contracts[0])
      .update({ mint_state: 'unclaimed', recipient: null, mint_chain_id: null });
    let refused: string | undefined = contracts[0];
    const poll = startLane(db, { refuses: (contract) => contract === refused });
    const stored = () => db('mint_contracts').whereNotNull('pause_reason').select('contract', 'pause_reason');
    for (let round = 0; round < 4; round += 1) expect((await poll()).pause).toBeUndefined();
    expect(await stored()).toEqual([{ contract: refused, pause_reason: 'contract_refuses' }]);
    refused = undefined;
    // The next thing that it waits for.
    expect((await poll(2)).pause).toBe('foreign_nonce');
    expect(await stored()).toEqual([]);
  });
});

test('a mint that costs more than the signer has lets those on other contracts go on', async ({ db }) => {
  const [dear = '', ...cheap] = contracts;
  await db('nfts')
    .whereIn('mint_contract', cheap.slice(1))
    .update({ mint_state: 'unclaimed', recipient: null });
  const poll = startLane(db, {
    gasOf: (contract) => (contract === dear ? 9_000_000n : 100_000n),
    balance: 5_000_000n,
  });
  for (let round = 0; round < 3; round += 1) {
    // What the other one waits for.
    expect((await poll(100)).pause).toBe('foreign_nonce');
  }
  const { pause_reason: reason, pause_detail: detail } = await db('mint_contracts')
    .where({ contract: dear })
    .first();
  expect({ reason, detail }).toEqual({
    reason: 'contract_refuses',
    detail: expect.stringContaining('5000000 wei'),
  });
});
