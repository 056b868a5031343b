import { describe, expect } from 'vitest';
import type { Database } from '../../src/contract/transaction.ts';
import { foldCounts } from '../../src/db/list-folds-store.ts';
import { atPrimary } from '../../src/db/replica-reads.ts';
import { listEvents, readAllEvents } from '../../src/events/event-list-store.ts';
import type { EventFilter } from '../../src/events/event-place.ts';
import type { ListedEvent } from '../../src/events/page-rows.ts';
import type { NftFilter } from '../../src/rwa/assets/nft-counts.ts';
import type { Nft } from '../../src/rwa/assets/nft-row.ts';
import { countNfts, listNfts } from '../../src/rwa/assets/nft-store.ts';
import { addNetwork, contractAddress } from '../rwa/samples.ts';
import { someOf } from '../support/counted-lists.ts';
import { listEventsBothWays } from '../support/events.ts';
import { test } from '../support/fixtures.ts';
import { random, seed } from '../support/random.ts';
import { rowsReadBy } from '../support/statements.ts';

const company = 'marked';

const states = ['unclaimed', 'queued', 'submitted', 'minted', 'failed'] as const;
const day = 24 * 60 * 60 * 1_000;
const start = Date.UTC(2026, 0, 1);
const someMoment = () => new Date(start + random(40 * day));

test.beforeAll(async ({ db }) => {
  await addNetwork(db);
  await db('companies').insert([company, 'other'].map((id) => ({ id, name: id })));
  for (const id of [company, 'other', company]) await addRows(db, id);
  await db.raw('ANALYZE');
});

// Serials leave gaps, so that RWAs have many stretches; one has a serial beyond all of them.
async function addRows(db: Database, id: string): Promise<void> {
  await db.raw(
    `WITH rwa AS (
       INSERT INTO rwas (company_id, name, type, chain_id, contract_address)
       SELECT :id, 'rwa ' || n, 'cask', 31337, :contractAddress FROM generate_series(1, 6) AS n
       RETURNING company_id, id, number)
     INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, updated_at)
     SELECT company_id, id, number, s.serial, number * 18446744073709551616::numeric + s.serial, '\\x00', 'k',
       timestamptz '2026-01-01' + (n * :step::int + number) % 720 * interval '1 hour'
     FROM rwa CROSS JOIN generate_series(1, 90) AS n,
       LATERAL (SELECT CASE n WHEN 90 THEN 1::bigint << 41 ELSE n * n * (1 + number % 9) END AS serial) AS s`,
    { id, contractAddress, step: 1 + random(90) },
  );
  await db.raw(
    `INSERT INTO events (company_id, name, created_at, start_date)
     SELECT :id, 'event ' || n, timestamptz '2026-01-01' + n % 90 * :step::int * interval '1 second',
       CASE WHEN n % 4 > 0 THEN timestamptz '2026-01-01' + n * :step::int % 900 * interval '1 hour' END
     FROM generate_series(1, 300) AS n`,
    { id, step: 1 + random(50_000) },
  );
}

/** Changes, deletes and adds some rows, each kind in a statement of its own. */
async function changeSome(db: Database): Promise<void> {
  const some = someOf(db, { company, random, among: 1_000, most: 40 });
  const next = states[random(5)];
  const isMinted = next === 'minted';
  await db('nfts')
    .whereIn('id', some('nfts'))
    .update({
      ...{ mint_state: next, minted_at: isMinted ? new Date() : null },
      ...{ minted_tx: isMinted ? '0x' : null, minted_block: isMinted ? '1' : null },
    });
  // These stay where they are, and what they count for stays.
  await db('nfts')
    .whereIn('id', some('nfts'))
    .update({ data: { n: random(100) } });
  await db('nfts').whereIn('id', some('nfts').limit(9)).update({ updated_at: someMoment() });
  await db('nfts').whereIn('id', some('nfts').limit(5)).delete();
  await db('events')
    .whereIn('id', some('events').offset(random(600)))
    .update({ start_date: random(4) > 0 ? someMoment() : null });
  await db('events').whereIn('id', some('events').limit(3)).delete();
  await db('events').insert({ company_id: company, name: 'late', start_date: someMoment() });
}

async function someFilter(db: Database): Promise<NftFilter & { updatedSince: Date }> {
  const numbers: string[] = await db('rwas').where('company_id', company).pluck('number');
  return {
    updatedSince: random(5) > 0 ? someMoment() : new Date(Date.now() - random(60_000)),
    ...(random(2) > 0 && { rwaNumber: BigInt(numbers[random(numbers.length)] ?? 0) }),
    ...[{}, {}, { claimed: true }, { claimed: false }, { mintState: states[random(5)] }][random(5)],
  };
}

/** What the list has by its rows alone. */
function nftsByRows(
  db: Database,
  filter: NftFilter & { updatedSince: Date },
  companyId = company,
): Promise<string[]> {
  const { rwaNumber, claimed, mintState, updatedSince } = filter;
  const query = db('nfts').where('company_id', companyId).where('updated_at', '>=', updatedSince);
  if (rwaNumber !== undefined) query.where('rwa_number', String(rwaNumber));
  if (claimed !== undefined) query.whereRaw(`(mint_state = 'minted') = ${claimed}`);
  if (mintState !== undefined) query.where('mint_state', mintState);
  return query.orderBy(['rwa_number', 'serial']).pluck('id');
}

function eventsByRows(
  db: Database,
  { startsFrom, startsTo }: EventFilter,
  companyId = company,
): Promise<string[]> {
  const query = db('events').where('company_id', companyId);
  if (startsFrom) query.where('start_date', '>=', startsFrom.toISOString());
  if (startsTo) query.where('start_date', '<=', startsTo.toISOString());
  return query.orderByRaw('created_at DESC, id DESC').pluck('id');
}

/** Pages through a list by what its last row was. */
async function pagesOf<Row extends { readonly id: string }>(
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let page = await read(undefined); page.length > 0; page = await read(page.at(-1))) {
    ids.push(...page.map(({ id }) => id));
  }
  return ids;
}

async function expectNfts(db: Database): Promise<void> {
  const [filter, limit] = [await someFilter(db), 30 + random(150)];
  const [wanted, told] = [await nftsByRows(db, filter), JSON.stringify(filter, (_, each) => String(each))];
  const paged = await pagesOf<Nft>((after) =>
    listNfts(db, company, filter, { limit, ...(after ? { after } : { offset: 0 }) }),
  );
  expect(paged, told).toEqual(wanted);
  expect(await countNfts(db, company, filter), told).toBe(wanted.length);
  const offset = random(wanted.length + 1);
  const skipped = await listNfts(db, company, filter, { limit, offset });
  expect(skipped.map(({ id }) => id)).toEqual(wanted.slice(offset, offset + limit));
}

async function expectEvents(db: Database): Promise<void> {
  const [one, other] = [someMoment(), someMoment()];
  const filter =
    [{ startsFrom: one }, { startsTo: one }, { startsFrom: one, startsTo: other }][random(3)] ?? {};
  const [wanted, limit] = [await eventsByRows(db, filter), 30 + random(100)];
  const paged = await pagesOf<ListedEvent>((after) =>
    listEventsBothWays(db, company, filter, { limit, ...(after && { after }) }),
  );
  expect(paged).toEqual(wanted);
  const offset = random(wanted.length + 1);
  const skipped = await listEventsBothWays(db, company, filter, { limit, offset });
  expect(skipped.map(({ id }) => id)).toEqual(wanted.slice(offset, offset + limit));
  const all = await readAllEvents(atPrimary(db), company, filter);
  const ids = all.first.map(({ id }) => id);
  for await (const batch of all.rest ?? []) ids.push(...batch.map(({ id }) => id));
  expect(ids).toEqual(wanted);
}

async function expectTrue(db: Database): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await expectNfts(db);
    await expectEvents(db);
  }
}

const foldAll = async (db: Database) => {
  while ((await foldCounts(db)) > 0);
};

describe(`lists that a moment narrows (SEED=${seed})`, () => {
  test('have the pages of their rows, however many changes are folded', async ({ db }) => {
    await expectTrue(db);
    for (let round = 0; round < 4; round += 1) {
      await changeSome(db);
      await expectTrue(db);
      await foldCounts(db, 1 + random(200));
      await expectTrue(db);
    }
    await foldAll(db);
    await expectTrue(db);
  });

  test('have them where marks are unknown', async ({ db }) => {
    await db('list_counts').where('company_id', company).update({ latest: null, earliest: null });
    await changeSome(db);
    await foldAll(db);
    await expectTrue(db);
  });

  test('keep the mark while all that is folded of a row that came and went is its end', async ({ db }) => {
    const [nft] = await listNfts(db, company, {}, { limit: 1, offset: 0 });
    const rwaNumber = String(nft?.rwaNumber);
    await db('nfts').where({ company_id: company, rwa_number: rwaNumber }).whereNot('id', nft?.id).delete();
    await db.raw('VACUUM FULL list_changes');
    await foldAll(db);
    const place = await db('list_counts')
      .where({ company_id: company, list: 'nfts', shift: 0 })
      .whereRaw(`bucket >> 32 = ${rwaNumber}`)
      .first();
    for (const change of [-1, 1]) {
      await db('list_changes').insert({
        ...{ company_id: company, list: 'nfts', place: place.bucket, facet: place.facet, change },
        latest: '0',
      });
    }
    expect(await foldCounts(db, 1)).toBe(1);
    const filter = { updatedSince: nft?.updatedAt ?? new Date(), rwaNumber: BigInt(rwaNumber) };
    const found = await listNfts(db, company, filter, { limit: 2, offset: 0 });
    expect(found.map(({ id }) => id)).toEqual([nft?.id]);
    await foldAll(db);
    expect((await listNfts(db, company, filter, { limit: 2, offset: 0 })).length).toBe(1);
  });

  test('keep their changes from a release that knows no marks, which counts them all the same', async ({
    db,
  }) => {
    await changeSome(db);
    const pending = await db('list_changes').sum('change').count();
    const folded = await db.raw(`
      DELETE FROM list_count_changes WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM list_count_changes LIMIT 5000 FOR UPDATE SKIP LOCKED))`);
    expect(folded.rowCount).toBe(0);
    expect(await db('list_count_changes').sum('change').count()).toEqual(pending);
  });
});

describe('a page that next to nothing matches', () => {
  const page = { limit: 50, offset: 0 };

  test.beforeAll(async ({ db }) => {
    await db.raw(
      `WITH rwa AS (
         INSERT INTO rwas (company_id, name, type, chain_id, contract_address)
         SELECT 'other', 'rwa ' || n, 'cask', 31337, :contractAddress FROM generate_series(1, 20) AS n
         RETURNING company_id, id, number)
       INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, updated_at)
       SELECT company_id, id, number, n, number * 18446744073709551616::numeric + n, '\\x00', 'k',
         timestamptz '2025-01-01' FROM rwa CROSS JOIN generate_series(1, 1000) AS n`,
      { contractAddress },
    );
    await db.raw(`
      INSERT INTO events (company_id, name, created_at, start_date)
      SELECT 'other', 'event ' || n, timestamptz '2025-06-01' + n * interval '1 second',
        timestamptz '2025-06-01' + CASE n WHEN 1 THEN interval '9 years' ELSE interval '1 day' END
      FROM generate_series(1, 20000) AS n`);
    await foldAll(db);
    await db.raw('ANALYZE');
  });

  test('reads the NFTs of few stretches', async ({ db }) => {
    const filter = { updatedSince: new Date('2030-01-01') };
    const last = await db('nfts').where('company_id', 'other').orderBy('rwa_number', 'desc').first('id');
    await db('nfts')
      .where('id', last.id)
      .update({ updated_at: new Date('2031-01-01') });
    for (const each of [
      filter,
      { ...filter, claimed: false },
      { ...filter, mintState: 'unclaimed' } as const,
    ]) {
      expect((await listNfts(db, 'other', each, page)).map(({ id }) => id)).toEqual([last.id]);
      expect(await rowsReadBy(db, 'nfts', () => listNfts(db, 'other', each, page))).toBeLessThanOrEqual(256);
    }
    await foldAll(db);
    expect(await rowsReadBy(db, 'nfts', () => listNfts(db, 'other', filter, page))).toBeLessThanOrEqual(256);
    expect(await rowsReadBy(db, 'list_counts', () => listNfts(db, 'other', filter, page))).toBeLessThan(200);
  });

  test('that nearly all matches is found far down by few rows', async ({ db }) => {
    const filter = { updatedSince: new Date('2024-12-31') };
    const page = { limit: 50, offset: 15_000 };
    const all = await nftsByRows(db, filter, 'other');
    const found = () => listNfts(db, 'other', filter, page);
    expect((await found()).map(({ id }) => id)).toEqual(all.slice(page.offset, page.offset + page.limit));
    expect(await rowsReadBy(db, 'nfts', found)).toBeLessThanOrEqual(2 * 256 + page.limit);
    const starts = { startsFrom: new Date('2025-05-01') };
    const events = await eventsByRows(db, starts, 'other');
    const deep = () => listEvents(db, 'other', starts, { ...page, total: events.length });
    expect((await deep()).map(({ id }) => id)).toEqual(events.slice(page.offset, page.offset + page.limit));
    expect(await rowsReadBy(db, 'events', deep)).toBeLessThan(200);
    // Half of nearly every stretch no longer matches, so that each has to be read.
    await db('nfts')
      .where('company_id', 'other')
      .whereRaw('serial % 2 = 0')
      .update({ updated_at: new Date('2020-01-01') });
    const left = await nftsByRows(db, filter, 'other');
    const halved = await listNfts(db, 'other', filter, { ...page, offset: 8_000 });
    expect(halved.map(({ id }) => id)).toEqual(left.slice(8_000, 8_050));
  });

  test('reads the events of few stretches', async ({ db }) => {
    const filter = { startsFrom: new Date('2033-01-01') };
    // As it is read where many match.
    const walked = { ...page, total: Number.MAX_SAFE_INTEGER };
    expect((await listEvents(db, 'other', filter, walked)).map(({ event }) => event?.name)).toEqual([
      'event 1',
    ]);
    expect(await rowsReadBy(db, 'events', () => listEvents(db, 'other', filter, walked))).toBeLessThan(50);
    expect(await rowsReadBy(db, 'list_counts', () => listEvents(db, 'other', filter, walked))).toBeLessThan(
      400,
    );
  });
});
