import type { Knex } from 'knex';
import { describe, expect } from 'vitest';
import { saveFinalBlock } from '../../src/chain/finality-store.ts';
import { isCountedNumber } from '../../src/rwa/assets/token-id.ts';
import { endRecovery } from '../../src/rwa/operators/remedies/recover-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client } from '../support/service.ts';
import { addNetwork, addNfts, addRwa, serviceVault } from './samples.ts';

/** The RWAs of the NFTs on a page, and the address of the next one. */
async function readPage(
  client: Client,
  path: string,
): Promise<{ rwaIds: string[]; next: string | undefined }> {
  const { body, headers } = await client.get(path).expect(200);
  return {
    rwaIds: body.map((nft: { rwaId: string }) => nft.rwaId),
    next: /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1],
  };
}

const numberNow = () => BigInt(Date.now()) << 21n;

describe('the number of a new RWA', () => {
  test('holds its time in milliseconds above 21 random bits', async ({ db, service }) => {
    const before = numberNow();
    const numbers = [];
    for (let made = 0; made < 20; made += 1) numbers.push((await addRwa(db, service.companies.acme)).number);
    // The clocks of database and test are those of one machine.
    for (const number of numbers) expect(number >> 21n).toBeGreaterThanOrEqual(before >> 21n);
    expect(numbers.every((number) => number <= numberNow() + (1n << 21n) && !isCountedNumber(number))).toBe(
      true,
    );
    const parts = new Set(numbers.map((number) => number & 0x1fffffn));
    expect(parts.size).toBeGreaterThan(15);
  });

  test('is given by the database to a release that names none', async ({ db, service }) => {
    const network = await addNetwork(db);
    const [{ number }] = await db('rwas')
      .insert({
        company_id: service.companies.acme,
        name: 'old',
        type: 'cask',
        chain_id: network,
        contract_address: `0x${'1'.repeat(40)}`,
      })
      .returning('number');
    expect(isCountedNumber(BigInt(number))).toBe(false);
  });

  test('keeps lists in order behind counted numbers, and cursors of both go on', async ({
    acme,
    db,
    service,
  }) => {
    const { acme: company } = service.companies;
    await db.raw('TRUNCATE rwas CASCADE');
    const counted = await addRwa(db, company);
    await db('rwas').where({ id: counted.id }).update({ number: 7 });
    const timed = await addRwa(db, company);
    await addNfts(db, serviceVault, { ...counted, number: 7n }, 2);
    await addNfts(db, serviceVault, timed, 2);
    const seen: string[] = [];
    let path: string | undefined = '/v1/api/nft?limit=1';
    while (path !== undefined) {
      const page = await readPage(acme, path);
      seen.push(...page.rwaIds);
      path = page.next;
    }
    expect(seen).toEqual([counted.id, counted.id, timed.id, timed.id]);
  });
});

describe('the final block of an RWA', () => {
  const blockOf = async (service: { db: Knex }, id: string) =>
    (await service.db('rwas').where({ id }).first()).final_block;

  test('is the one of its network when the RWA is made; 0 without one', async ({ db, service }) => {
    const { acme } = service.companies;
    await addNetwork(db, '5');
    expect(await blockOf(service, (await addRwa(db, acme)).id)).toBe('0');
    await saveFinalBlock(db, '31337', { number: 41n, hash: '0x1' });
    const { id } = await addRwa(db, acme);
    expect(await blockOf(service, id)).toBe('41');
    await saveFinalBlock(db, '31337', { number: 50n, hash: '0x2' });
    await db('rwas').where({ id }).update({ name: 'other' });
    expect(await blockOf(service, id)).toBe('41');
    await db('rwas').where({ id }).update({ chain_id: '5' });
    expect(await blockOf(service, id)).toBe('0');
  });

  test('is forgotten when a recovery ends below it: the chain has lost it', async ({ db, service }) => {
    const { acme } = service.companies;
    await db.raw('DELETE FROM network_finality');
    await saveFinalBlock(db, '31337', { number: 40n, hash: '0x1' });
    const { id: kept } = await addRwa(db, acme);
    await saveFinalBlock(db, '31337', { number: 1_000n, hash: '0x2' });
    // While lanes wait for the recovery of a chain that began again.
    const { id: lost } = await addRwa(db, acme);
    await endRecovery(db, '31337', 50n);
    expect(await blockOf(service, kept)).toBe('40');
    expect(await blockOf(service, lost)).toBe('0');
  });
});
