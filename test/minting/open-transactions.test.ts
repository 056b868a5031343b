import { expect } from 'vitest';
import {
  listOpenTransactions,
  listUnconfirmedTransactions,
} from '../../src/rwa/mint-worker/stores/transaction-store.ts';
import { addNetwork, contractAddress, recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { planOf, statementsOf } from '../support/statements.ts';

const lane = { chainId: '31337', signer: '0x00000000000000000000000000000000000000A1' };

// 200 transactions of 100 NFTs, of which the newest is not confirmed, as they are before their blocks are final.
test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db.raw(`
    INSERT INTO companies (id, name) VALUES ('busy', 'busy');
    INSERT INTO mint_lanes (chain_id, signer) VALUES (${lane.chainId}, '${lane.signer}');
    INSERT INTO rwas (company_id, name, type, chain_id, contract_address, is_claimable)
    VALUES ('busy', 'much', 'cask', ${lane.chainId}, '${contractAddress}', true);
    INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
      recipient, mint_chain_id)
    SELECT company_id, id, number, n, number * 18446744073709551616::numeric + n, '\\x00', 'test', 'submitted',
      '${recipient}', chain_id FROM rwas CROSS JOIN generate_series(1, 20000) AS n;
    INSERT INTO mint_transactions (chain_id, signer, nonce, contract, gas_limit, state, mined_hash, block_number,
      block_hash, fence)
    SELECT ${lane.chainId}, '${lane.signer}', n, '${contractAddress}', 1, s.state, s.hash, s.block, s.hash, 1
    FROM generate_series(0, 199) AS n CROSS JOIN LATERAL (
      SELECT 'confirmed' AS state, '0x' || n AS hash, n AS block WHERE n < 199
      UNION ALL SELECT 'submitted', NULL, NULL WHERE n = 199) AS s;
    INSERT INTO mint_attempts (transaction_id, number, hash, raw, max_fee_per_gas, sent_at_block, fence)
    SELECT id, 1, '0x' || nonce, '\\x00', 1, 1, 1 FROM mint_transactions;
    INSERT INTO mint_transaction_nfts (transaction_id, nft_id, token_id, recipient)
    SELECT t.id, n.id, n.token_id, n.recipient
    FROM mint_transactions t JOIN nfts n ON n.serial > t.nonce * 100 AND n.serial <= (t.nonce + 1) * 100;
    UPDATE mint_transaction_nfts SET found_tx = '0xe', found_block = 3, found_block_hash = '0xb'
    WHERE nft_id = (SELECT id FROM nfts WHERE serial = 701);
    UPDATE mint_transaction_nfts SET asked_out = true WHERE nft_id = (SELECT id FROM nfts WHERE serial = 901);
  `);
  await db.raw('ANALYZE nfts, mint_transactions, mint_attempts, mint_transaction_nfts');
});

test('the transactions of a lane say what few of their NFTs have', async ({ db }) => {
  const open = await listOpenTransactions(db, lane);
  expect(open).toHaveLength(200);
  expect(open.filter(({ foundIn }) => foundIn.length > 0)).toMatchObject([
    { nonce: 7n, foundIn: [{ number: 3n, hash: '0xb' }] },
  ]);
  expect(open.filter(({ hasAskedOut }) => hasAskedOut)).toMatchObject([{ nonce: 9n }]);
  expect(await listUnconfirmedTransactions(db, lane)).toEqual(open.slice(199));
});

test('are listed without reading their NFTs', async ({ db }) => {
  for (const statement of await statementsOf(db, () => listOpenTransactions(db, lane))) {
    const plan = await planOf(db, statement);
    expect(plan).toContain('using mint_transaction_nfts_found');
    expect(plan).toContain('using mint_transaction_nfts_asked_out');
    expect(plan).not.toMatch(/mint_transaction_nfts_pkey|Seq Scan on mint_transaction_nfts/);
  }
});
