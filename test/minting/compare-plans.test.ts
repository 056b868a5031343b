import { expect } from 'vitest';
import { listTokenRows, listUnseenMinted } from '../../src/rwa/minting/compare/token-row-store.ts';
import { addCompany, addNetwork, contractAddress } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { planOf, rowsReadBy, statementsOf } from '../support/statements.ts';

const id = { chainId: '31337', contract: contractAddress };
const tokens = Array.from({ length: 100 }, (_, index) => ((7n << 64n) + BigInt(index + 1)).toString());

// On each of two networks 100 RWAs, 25,000 NFTs in as many blocks, and fresh statistics: the planner chooses as in production.
test.beforeAll(async ({ db }) => {
  for (const chainId of [id.chainId, '1']) await addNetwork(db, chainId);
  await addCompany(db, 'acme');
  await db.raw(`
    INSERT INTO rwas (number, company_id, name, type, chain_id, contract_address)
    SELECT place * 100 + n, 'acme', 'rwa', 'cask', chain_id, '${contractAddress}'
    FROM (VALUES (0, 31337), (1, 1)) AS c (place, chain_id) CROSS JOIN generate_series(1, 100) AS n;
    INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
      mint_chain_id, minted_at, minted_tx, minted_block)
    SELECT r.company_id, r.id, r.number, n, r.number * 18446744073709551616::numeric + n, '\\x00', 'a', 'minted',
      r.chain_id, now(), '0x', (r.number - 1) % 100 * 500 + 500 + n
    FROM rwas r CROSS JOIN generate_series(1, 250) AS n;
    ANALYZE rwas, nfts;
  `);
});

test('a page of blocks is compared by indexes, however many NFTs there are', async ({ db }) => {
  const sent = await statementsOf(db, async () => {
    expect(await listTokenRows(db, id, tokens)).toHaveLength(100);
    expect(await listUnseenMinted(db, id, { from: 600n, to: 699n }, tokens)).toHaveLength(100);
    expect(await listUnseenMinted(db, id, { from: 200_000n, to: undefined }, [])).toEqual([]);
  });
  for (const statement of sent) {
    const plan = await planOf(db, statement);
    expect(plan).not.toMatch(/Seq Scan on nfts/);
  }
});

test('what is minted in the same blocks of other networks is not read', async ({ db }) => {
  const list = () => listUnseenMinted(db, id, { from: 600n, to: 699n }, tokens.slice(0, 5));
  expect(await rowsReadBy(db, 'nfts', list)).toBeLessThanOrEqual(101);
});
