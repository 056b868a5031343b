import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { mintReasons } from '../../src/rwa/minting/mint-reason.ts';
import {
  addCompany,
  addNetwork,
  addNft,
  addRwa,
  contractAddress,
  recipient,
  vaultOf,
} from '../rwa/samples.ts';
import { test } from './fixtures.ts';

const signer = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await addCompany(db, 'acme');
  await db('mint_lanes').insert({ chain_id: 31337, signer });
});

const addMint = async (db: Database, state: string, more = {}) => {
  const { id } = await addNft(db, vaultOf(['a']), await addRwa(db, 'acme'));
  const queued = { mint_state: state, recipient, mint_chain_id: 31337, queued_at: new Date(), ...more };
  await db('nfts').where({ id }).update(queued);
  return id;
};

test.beforeEach(async ({ db }) => {
  await db('nfts').delete();
  await db('mint_lanes').update({ stopped_by_operator: false });
});

describe('mint list', () => {
  test('shows what is under way or stuck, and why', async ({ db, json }) => {
    const failed = await addMint(db, 'failed', { mint_error: 'The token was minted to another recipient.' });
    const queued = await addMint(db, 'queued');
    await addMint(db, 'unclaimed');
    await db('mint_lanes').update({
      pause_reason: 'balance_too_low',
      pause_detail: 'It has 1 wei.',
      paused_at: new Date(),
    });
    const { value } = await json('mint', 'list');
    await db('mint_lanes').update({ pause_reason: null, pause_detail: null, paused_at: null });
    expect(value).toMatchObject([
      { nftId: failed, state: 'failed', why: 'The token was minted to another recipient.' },
      {
        nftId: queued,
        state: 'queued',
        reason: 'balance_too_low',
        why: 'It has 1 wei.',
        reasonSince: expect.any(String),
        remedy: 'Send funds to the signer.',
      },
    ]);
    expect(value).toMatchObject([{ reason: null, remedy: expect.stringContaining('mint retry') }, {}]);
    expect((await json('mint', 'list', '--state', 'failed')).value).toHaveLength(1);
    expect((await json('mint', 'list', '--chain', '5')).value).toEqual([]);
  });

  test('shows the reason of an NFT itself before that of its lanes, and what to do', async ({ db, json }) => {
    const id = await addMint(db, 'submitted');
    expect((await json('mint', 'list')).value).toMatchObject([{ nftId: id, reason: null, remedy: null }]);
    await db('mint_notes').insert({ nft_id: id, reason: 'unexplained', detail: 'Submitted with nonce 4.' });
    const { value } = await json('mint', 'list');
    await db('mint_notes').delete();
    expect(value).toMatchObject([
      { reason: 'unexplained', why: 'Submitted with nonce 4.', remedy: expect.stringContaining('mint show') },
    ]);
  });
});

describe('mint show', () => {
  test('shows the lanes', async ({ db, json }) => {
    await addMint(db, 'queued');
    expect((await json('mint', 'show')).value).toMatchObject([
      { chainId: '31337', signer, holder: null, queued: 1, inFlight: 0, paused: null },
    ]);
  });

  test('shows every attempt of an NFT', async ({ db, json }) => {
    const id = await addMint(db, 'submitted');
    const [{ id: transaction }] = await db('mint_transactions')
      .insert({ chain_id: 31337, signer, nonce: 4, contract: signer, gas_limit: 1, fence: 1 })
      .returning('id');
    for (const number of [1, 2]) {
      const attempt = { transaction_id: transaction, number, hash: `0x${number}`, raw: Buffer.alloc(1) };
      await db('mint_attempts').insert({ ...attempt, max_fee_per_gas: number, sent_at_block: 9, fence: 1 });
    }
    await db('mint_transaction_nfts').insert({
      transaction_id: transaction,
      nft_id: id,
      token_id: 1,
      recipient,
    });
    const { value } = await json('mint', 'show', id);
    await db('mint_transaction_nfts').delete();
    await db('mint_attempts').delete();
    await db('mint_transactions').delete();
    expect(value).toMatchObject([
      { nonce: '4', attempt: 2, hash: '0x2', state: 'submitted' },
      { nonce: '4', attempt: 1, hash: '0x1' },
    ]);
  });

  test('says what to do when it is no id', async ({ run }) => {
    expect(await run('mint', 'show', 'x')).toMatchObject({
      status: 2,
      err: expect.stringContaining('mint list'),
    });
  });
});

describe('mint retry', () => {
  test('asks the network first: no answer is no proof', async ({ db, run }) => {
    const id = await addMint(db, 'failed', { mint_error: 'x' });
    expect(await run('mint', 'retry', id)).toMatchObject({
      status: 1,
      err: expect.stringContaining('No node of network 31337 answered'),
    });
    expect(await db('nfts').where({ id }).first()).toMatchObject({ mint_state: 'failed' });
  });

  test.for(['retry', 'replace'])('%s refuses what failed of an archived RWA', async (name, { db, run }) => {
    const id = await addMint(db, 'failed', { mint_error: 'x' });
    await db('rwas').update({ archived_at: new Date() });
    const refused = await run('mint', name, id);
    await db('rwas').update({ archived_at: null });
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('is archived') });
  });

  test.for(['retry', 'replace'])(
    '%s sends nothing again to an NFT contract, and says how to take it back',
    async (name, { db, run }) => {
      const id = await addMint(db, 'failed', { mint_error: 'x', recipient: contractAddress });
      const { status, err } = await run('mint', name, id);
      expect({ status, err }).toEqual({
        status: 2,
        err: `No NFT can be minted to ${contractAddress}: it is an NFT contract of the service. Take the mint back: tallystick mint cancel ${id}\n`,
      });
    },
  );

  test('refuses what has not failed', async ({ db, run }) => {
    for (const id of [await addMint(db, 'submitted'), randomUUID(), 'x']) {
      expect((await run('mint', 'retry', id)).status).toBe(2);
    }
  });
});

describe('mint pause and resume', () => {
  test('stop lanes and let them go on', async ({ json }) => {
    const paused = await json('mint', 'pause', '--chain', '31337');
    expect(paused.value).toMatchObject([
      { signer, paused: 'operator', remedy: expect.stringContaining('mint resume') },
    ]);
    const resumed = await json('mint', 'resume', '--signer', signer.toLowerCase());
    expect(resumed.value).toMatchObject([{ signer, paused: null }]);
  });

  test('know --chain by its name in 0.1.0 too, which the help does not show', async ({ run, json }) => {
    expect((await json('mint', 'pause', '--chain-id', '31337')).value).toMatchObject([{ signer }]);
    const { out } = await run('mint', 'pause', '--help');
    expect(out).toContain('--chain <id>');
    expect(out).not.toContain('--chain-id');
    expect((await run('mint', 'fill-gap')).err).toContain("required option '--chain <id>'");
  });

  test('say when there is no such lane', async ({ run }) => {
    expect((await run('mint', 'pause', '--chain', '5')).err).toBe(
      'There is no such lane. See: tallystick mint show\n',
    );
  });
});

test('each reason has its remedy in docs/operate/stuck-mints.md, by commands that exist', async ({ run }) => {
  const page = readFileSync('docs/operate/stuck-mints.md', 'utf8');
  const known = (await run('mint', '--help')).out;
  for (const [reason, { remedy }] of Object.entries(mintReasons)) {
    expect(page).toContain(`\n| \`${reason}\` |`);
    for (const [, command = ''] of remedy.matchAll(/tallystick mint ([a-z-]+)/g)) {
      expect(known).toContain(`\n  ${command} `);
    }
  }
});
