import { insertNetwork } from '../../../src/chain/network-store.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { inTransaction } from '../../../src/db/connection/transaction.ts';
import { insertCompany } from '../../../src/keys/company-store.ts';
import { issueKey } from '../../../src/keys/key-store.ts';
import { createClaimSecretVault } from '../../../src/rwa/assets/claim-secret.ts';
import { issueNfts } from '../../../src/rwa/assets/nft-issuer.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import { benchKey } from '../start-service.ts';

export type Sizes = { readonly rwas: number; readonly nftsPerRwa: number; readonly events: number };

/** What requests need to know of the rows. */
export type Filled = {
  readonly key: string;
  readonly companyId: string;
  readonly nfts: number;
  readonly events: number;
  /** Some ids from all over the rows. */
  readonly samples: { readonly rwas: string[]; readonly nfts: string[]; readonly events: string[] };
};

/** The account that the network is asked about; any does. */
export const treasury = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const atOnce = 8;

/** Fills a migrated, empty database: one company with RWAs, NFTs and events. */
export async function fillCompany(db: Database, sizes: Sizes, say: (line: string) => void): Promise<Filled> {
  await insertNetwork(db, testNetwork(['http://127.0.0.1:9']));
  const { id: companyId } = await insertCompany(db, { name: 'bench', treasuryAddress: treasury });
  const { key } = await issueKey(db, 'live', { companyId, label: 'bench' });
  const rwas = await insertRwas(db, companyId, sizes.rwas);
  await issueAll(db, companyId, rwas, sizes.nftsPerRwa, say);
  await insertEvents(db, companyId, sizes.events);
  // As the server does by itself while rows come one after the other.
  await db.raw('VACUUM ANALYZE events, rwas, nfts');
  return {
    key,
    companyId,
    nfts: sizes.rwas * sizes.nftsPerRwa,
    events: sizes.events,
    samples: { rwas: spread(rwas), nfts: await sampleOf(db, 'nfts'), events: await sampleOf(db, 'events') },
  };
}

async function insertRwas(db: Database, companyId: string, count: number): Promise<string[]> {
  const { rows }: { rows: { id: string }[] } = await db.raw(
    `INSERT INTO rwas (number, company_id, name, description, type, chain_id, contract_address, is_buyable, is_claimable,
       price, currency, data, created_at)
     SELECT new_rwa_number(now() - (?::int - n) * interval '1 second'), ?, 'Cask ' || n, 'Single malt, filled in autumn, number ' || n, (ARRAY['cask', 'painting', 'plot'])[1 + n % 3],
       31337, ?, n % 2 = 0, true, (100 + n)::numeric / 10, 'EUR', jsonb_build_object('litres', 200, 'number', n),
       now() - (?::int - n) * interval '1 second'
     FROM generate_series(1, ?::int) AS n RETURNING id`,
    [count, companyId, contract, count, count],
  );
  return rows.map(({ id }) => id);
}

async function issueAll(
  db: Database,
  companyId: string,
  rwas: readonly string[],
  count: number,
  say: (line: string) => void,
): Promise<void> {
  const vault = createClaimSecretVault(new Map([['bench', benchKey]]));
  let next = 0;
  const issueSome = async () => {
    for (let rwaId = rwas[next++]; rwaId !== undefined; rwaId = rwas[next++]) {
      const issue = { companyId, rwaId, count };
      await inTransaction(db, (tx) => issueNfts(tx, vault, issue));
      if (next % 1_000 === 0) say(`  NFTs of ${next} of ${rwas.length} RWAs`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, issueSome));
}

/** Events of a company, a second apart. */
async function insertEvents(db: Database, companyId: string, count: number): Promise<void> {
  await db.raw(
    `INSERT INTO events (company_id, name, location, description, start_date, end_date, max_attendees, price, currency,
       chain_id, created_at)
     SELECT ?, 'Tasting ' || n, 'Hall ' || n % 40, repeat('A long evening with good company. ', 4),
       now() + n * interval '1 minute', now() + n * interval '1 minute' + interval '3 hours', 100000000, 12.5, 'EUR',
       31337, now() - (?::int - n) * interval '1 second'
     FROM generate_series(1, ?::int) AS n`,
    [companyId, count, count],
  );
}

const sampleSize = 500;

const spread = (ids: readonly string[]) =>
  ids.filter((_, index) => index % Math.max(1, Math.floor(ids.length / sampleSize)) === 0);

async function sampleOf(db: Database, table: 'nfts' | 'events'): Promise<string[]> {
  const ids: string[] = await db(table).orderByRaw('md5(id::text)').limit(sampleSize).pluck('id');
  return ids;
}
