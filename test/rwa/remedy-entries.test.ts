import { describe, expect } from 'vitest';
import type { MintNode } from '../../src/chain/minting/mint-node.ts';
import { findNetwork } from '../../src/chain/network-store.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { recordAudit } from '../../src/db/records/audit-store.ts';
import { cancelMint } from '../../src/rwa/operators/remedies/mint-cancel.ts';
import { askToFill } from '../../src/rwa/operators/remedies/mint-fill.ts';
import type { OnChange, Proving } from '../../src/rwa/operators/remedies/mint-proof.ts';
import { releaseMint } from '../../src/rwa/operators/remedies/mint-release.ts';
import { findRequestedMint } from '../../src/rwa/operators/remedies/mint-remedy-store.ts';
import { retryMint } from '../../src/rwa/operators/remedies/mint-retry.ts';
import { test } from '../support/fixtures.ts';
import { addCompany, addNetwork, addNft, addRwa, recipient, vaultOf } from './samples.ts';

const signer = `0x${'1'.repeat(40)}`;
const by = { kind: 'operator', name: 'me', host: 'here' } as const;
const store: OnChange = (tx, details) =>
  recordAudit(tx, [{ action: 'test', companyId: null, subject: null, details, by }]);
const storeNot: OnChange = async (tx, details) => {
  await store(tx, details);
  throw new Error('the entry cannot be stored');
};

/** A chain on which nothing was minted, and no nonce is used. */
const empty = {
  head: async () => ({ number: 9n }),
  finalized: 5n,
  block: async () => ({ time: new Date() }),
  mintsIn: async () => [],
  lookAt: async () => 'contract',
  ownerOf: async () => null,
  transactionCount: async () => 0n,
} as unknown as MintNode; // the rest of it is not asked

const proving = async (db: Database, onChange: OnChange): Promise<Proving> => {
  const network = await findNetwork(db, '31337');
  if (network === undefined) throw new Error('there is no network');
  const signal = new AbortController().signal;
  return { db, network, node: empty, signal, onProgress() {}, onChange };
};
const requested = async (db: Database, id: string) => {
  const mint = await findRequestedMint(db, id);
  if (mint === undefined) throw new Error('there is no mint');
  return mint;
};

const addMint = async (db: Database, state: 'queued' | 'submitted' | 'failed') => {
  const { id } = await addNft(db, vaultOf(['a']), await addRwa(db, 'acme'));
  await db('nfts')
    .where({ id })
    .update({ mint_state: state, recipient, mint_chain_id: 31337, queued_at: new Date() });
  return id;
};
const addTransaction = async (db: Database, nftId: string) => {
  const [{ id }] = await db('mint_transactions')
    .insert({ chain_id: 31337, signer, nonce: 4, contract: signer, gas_limit: 1, fence: 1 })
    .returning('id');
  await db('mint_transaction_nfts').insert({ transaction_id: id, nft_id: nftId, token_id: 1, recipient });
  return id;
};

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
  await db('mint_lanes').insert({ chain_id: 31337, signer });
});
test.beforeEach(async ({ db }) => {
  await db('mint_transaction_nfts').delete();
  await db('mint_transactions').delete();
});

type Remedy = {
  readonly name: string;
  /** Makes what the remedy is for. @returns the remedy, and a look at what it changes */
  prepare(db: Database): Promise<{
    readonly act: (onChange: OnChange) => Promise<unknown>;
    readonly look: () => Promise<unknown>;
  }>;
  readonly change: object;
};

const remedies: readonly Remedy[] = [
  {
    name: 'retry',
    async prepare(db) {
      const id = await addMint(db, 'failed');
      return {
        act: async (onChange) => retryMint(await proving(db, onChange), await requested(db, id)),
        look: () => db('nfts').where({ id }).first('mint_state'),
      };
    },
    change: { state: 'queued' },
  },
  {
    name: 'cancel',
    async prepare(db) {
      const id = await addMint(db, 'queued');
      return {
        act: async (onChange) => cancelMint(await proving(db, onChange), await requested(db, id)),
        look: () => db('nfts').where({ id }).first('mint_state', 'recipient'),
      };
    },
    change: { state: 'unclaimed' },
  },
  {
    name: 'release of one in flight',
    async prepare(db) {
      const id = await addMint(db, 'submitted');
      const transactionId = await addTransaction(db, id);
      return {
        act: async (onChange) => {
          const node = { ...empty, receipt: async () => null } as unknown as MintNode; // as above
          const parts = { ...(await proving(db, onChange)), node };
          const found = await requested(db, id);
          const transaction = found.transaction && { ...found.transaction, hashes: ['0x1'] };
          return releaseMint(parts, { ...found, transaction });
        },
        look: () => db('mint_transaction_nfts').where({ transaction_id: transactionId }).first('asked_out'),
      };
    },
    change: { state: 'asked' },
  },
  {
    name: 'fill-gap',
    async prepare(db) {
      await db('mint_lanes').update({ fill_nonce: null });
      const waiting = { chain_id: 31337, signer, nonce: 7, contract: signer, gas_limit: 1, fence: 1 };
      await db('mint_transactions').insert(waiting).onConflict().ignore();
      return {
        act: async (onChange) => askToFill(await proving(db, onChange), signer),
        look: () => db('mint_lanes').first('fill_nonce'),
      };
    },
    change: { signer, nonce: '0' },
  },
];

describe('a remedy and its entry in the audit log', () => {
  test.for(remedies)('commit together, or not at all: $name', async ({ prepare, change }, { db }) => {
    const { act, look } = await prepare(db);
    const [before, entries] = [await look(), await db('audit_log')];
    await expect(act(storeNot)).rejects.toThrow('the entry cannot be stored');
    expect([await look(), await db('audit_log')]).toEqual([before, entries]);
    await act(store);
    expect(await look()).not.toEqual(before);
    expect((await db('audit_log').orderBy('id', 'desc').first()).details).toEqual(change);
  });
});
