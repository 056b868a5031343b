import { insertNetwork } from '../../../src/chain/network-store.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { foldCounts } from '../../../src/db/list-folds-store.ts';
import { settleCounts } from '../../../src/db/list-splits-store.ts';
import { insertCompany } from '../../../src/keys/company-store.ts';
import { createClaimSecretVault, sealNewSecret } from '../../../src/rwa/assets/claim-secret.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import { benchKey } from '../start-service.ts';

/** What a company has. */
export type Holdings = {
  /** RWAs with 100 NFTs each. */
  readonly rwas: number;
  /** NFTs of one more RWA. */
  readonly nftsOfOne: number;
  /** RWAs without NFTs, created before the others. */
  readonly bareRwas: number;
  readonly events: number;
};

/** What questions need to know of a company. */
export type FilledCompany = {
  readonly companyId: string;
  /** Of its RWA with the most NFTs; decimal. */
  readonly largeRwa: string;
};

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const perRwa = 100;
const foldSize = 200_000;

/** Fills a migrated, empty database with companies, quicker than the service could. */
export async function fillCompanies<Name extends string>(
  db: Database,
  companies: Readonly<Record<Name, Holdings>>,
  say: (line: string) => void,
): Promise<Record<Name, FilledCompany>> {
  await insertNetwork(db, testNetwork(['http://127.0.0.1:9']));
  const restore = await dropIndexes(db);
  const filled: [string, FilledCompany][] = [];
  for (const [name, holdings] of Object.entries<Holdings>(companies)) {
    say(`  rows of the company ${name}`);
    filled.push([name, await fillCompany(db, name, holdings)]);
  }
  say('  indexes and counters');
  await restore();
  while ((await foldCounts(db, foldSize)) > 0);
  await settleCounts(db);
  return Object.fromEntries(filled) as Record<Name, FilledCompany>; // one for each name
}

/** Indexes that no constraint needs: built afterwards in a tenth of the time. */
async function dropIndexes(db: Database): Promise<() => Promise<void>> {
  const { rows }: { rows: { name: string; definition: string }[] } = await db.raw(`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid = 'nfts'::regclass AND NOT indisunique`);
  for (const { name } of rows) await db.raw(`DROP INDEX ${name}`);
  return async () => {
    for (const { definition } of rows) await db.raw(definition);
  };
}

async function fillCompany(db: Database, name: string, holdings: Holdings): Promise<FilledCompany> {
  const { id: companyId } = await insertCompany(db, { name });
  await insertRwas(db, companyId, { first: 1, count: holdings.bareRwas, isBare: true });
  await insertRwas(db, companyId, { first: holdings.bareRwas + 1, count: holdings.rwas + 1, isBare: false });
  const [large] = await db('rwas').where({ company_id: companyId }).orderBy('number', 'desc').limit(1);
  await insertNfts(db, companyId, { large: large.id, ofLarge: holdings.nftsOfOne });
  await insertEvents(db, companyId, holdings.events);
  return { companyId, largeRwa: large.number };
}

// Those without NFTs come as from files of 130,000, whose rows follow by microseconds; a type is rare, and behind all others.
const rareRwas = 20;

async function insertRwas(
  db: Database,
  companyId: string,
  { first, count, isBare }: { first: number; count: number; isBare: boolean },
): Promise<void> {
  await db.raw(
    `INSERT INTO rwas (company_id, name, type, chain_id, contract_address, is_buyable, is_claimable, data, created_at)
     SELECT :companyId, 'Cask ' || n, CASE WHEN NOT :isBare AND :last - n < ${rareRwas} THEN 'rare'
         ELSE (ARRAY['cask', 'painting', 'plot'])[1 + n % 3] END,
       31337, :contract, n % 2 = 0, n % 5 > 0, CASE WHEN :isBare THEN '{"bare":true}'::jsonb END,
       timestamptz '2026-01-01' + CASE WHEN :isBare THEN n / 130000 * interval '1 hour' + n % 130000 * interval '1 microsecond'
         ELSE interval '1 day' + n * interval '1 second' END
     FROM generate_series(:first::int, :last::int) AS n ORDER BY n`,
    { companyId, contract, isBare, first, last: first + count - 1 },
  );
}

// Three in ten are minted; what failed or is under way is rare. All have the same secret, which opens for none.
async function insertNfts(
  db: Database,
  companyId: string,
  { large, ofLarge }: { large: string; ofLarge: number },
): Promise<void> {
  const { sealed } = sealNewSecret(createClaimSecretVault(new Map([['bench', benchKey]])));
  await db.raw(
    `INSERT INTO nfts (company_id, rwa_id, rwa_number, serial, token_id, secret_cipher, secret_key_id, mint_state,
       mint_contract, minted_at, minted_tx, minted_block, updated_at)
     SELECT r.company_id, r.id, r.number, n, r.number * 18446744073709551616::numeric + n, :cipher, :keyId, s.state,
       r.contract_address, CASE s.state WHEN 'minted' THEN now() END, CASE s.state WHEN 'minted' THEN '0x00' END,
       CASE s.state WHEN 'minted' THEN 1 END, timestamptz '2026-01-01' + (n % 86400 * 100) * interval '1 second'
     FROM rwas r CROSS JOIN LATERAL
         generate_series(1, CASE WHEN r.id = :large THEN :ofLarge::int ELSE ${perRwa} END) AS n
       CROSS JOIN LATERAL (SELECT CASE WHEN n % 10 < 3 THEN 'minted' WHEN n % 1000 = 3 THEN 'queued'
         WHEN n % 1000 = 4 THEN 'failed' ELSE 'unclaimed' END AS state) s
     WHERE r.company_id = :companyId AND r.data IS NULL ORDER BY r.number, n`,
    { companyId, large, ofLarge, cipher: sealed.cipher, keyId: sealed.keyId },
  );
  await db.raw(
    `UPDATE rwas r SET total_nfts = c.total, last_serial = c.total, claimed_nfts = c.claimed
     FROM (SELECT rwa_id, count(*) AS total, count(*) FILTER (WHERE mint_state = 'minted') AS claimed FROM nfts
           WHERE company_id = ? GROUP BY rwa_id) c WHERE r.id = c.rwa_id`,
    [companyId],
  );
}

// The last tenth comes at one moment, as from one statement; the rest, ten a second.
async function insertEvents(db: Database, companyId: string, events: number): Promise<void> {
  await db.raw(
    `INSERT INTO events (company_id, name, location, start_date, end_date, created_at)
     SELECT :companyId, 'Tasting ' || n, 'Hall ' || n % 40, at + interval '30 days', at + interval '30 days 3 hours', at
     FROM generate_series(1, :events::int) AS n,
       LATERAL (SELECT timestamptz '2026-01-01' + least(n, :events * 0.9) * interval '100 milliseconds' AS at) AS moment`,
    { companyId, events },
  );
}
