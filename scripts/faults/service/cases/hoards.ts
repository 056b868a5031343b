import type { Database } from '../../../../src/contract/transaction.ts';
import { chainId } from '../../../bench/mint/bench-chain.ts';
import { addNfts, addRwa } from '../../../load/world.ts';
import type { Stage } from '../fault.ts';

/* What companies or strangers have put there, and is much to read. */

const manyEvents = 100_000;

/** Beside the few events of the load. */
export async function withManyEvents(db: Database, { around }: Stage) {
  await db.raw(
    `INSERT INTO events (company_id, name, description)
     SELECT ?, 'Many ' || n, repeat('What happens there. ', 60) FROM generate_series(1, ${manyEvents}) n`,
    [around.world.acme.id],
  );
  await settle(db);
  return async () => {
    await db.raw("DELETE FROM events WHERE name LIKE 'Many %'");
    await settle(db);
  };
}

/** A page of 200 of them has 6 MB. */
export async function withLongEvents(db: Database, { around }: Stage) {
  await db.raw(
    `INSERT INTO events (company_id, name, description)
     SELECT ?, 'Long ' || n, repeat('What happens there, and why. ', 1050) FROM generate_series(1, 400) n`,
    [around.world.acme.id],
  );
  await settle(db);
  return async () => {
    await db.raw("DELETE FROM events WHERE name LIKE 'Long %'");
    await settle(db);
  };
}

const queuedMints = 100_000;
const atOnce = 5_000;

/** NFTs that nobody has asked to mint. @returns the id of their asset */
export async function makeUnclaimed(db: Database, { around: { world, chain } }: Stage): Promise<string> {
  const rwa = await addRwa(db, world.acme.id, chain.contract);
  for (let made = 0; made < queuedMints; made += atOnce) {
    await addNfts(db, { companyId: world.acme.id, rwaId: rwa, count: atOnce });
  }
  await settle(db);
  return rwa;
}

/** All of them become what accepted mints are. */
export async function queueMints(db: Database, { around: { world, chain } }: Stage, rwa: string) {
  const [recipient = null] = world.acme.wallets;
  const queued = { mint_state: 'queued', recipient, mint_chain_id: chain.chainId, queued_at: db.fn.now() };
  await db('nfts').where({ rwa_id: rwa, mint_state: 'unclaimed' }).update(queued);
  // Not analysed: after a burst the statistics know nothing of it for a while.
  await db.raw('VACUUM nfts');
}

/** Takes back those that were not sent. */
export async function takeBackQueued(db: Database, rwa: string): Promise<void> {
  const unclaimed = { mint_state: 'unclaimed', recipient: null, mint_chain_id: null, queued_at: null };
  await db('nfts').where({ rwa_id: rwa, mint_state: 'queued' }).update(unclaimed);
}

/** What the server does by itself while rows come one after the other. */
async function settle(db: Database): Promise<void> {
  await db.raw('VACUUM ANALYZE events, nfts');
}

const collector = '0x00000000000000000000000000000000000c0113';
const contract = '0x00000000000000000000000000000000000c0112';

/** The page of all NFTs of the wallet with huge metadata. */
export const hugePage = `/blockchain/v1/api/nft?chainId=${chainId}&address=${collector}&limit=100`;

/** A wallet with 100 NFTs whose metadata have 1 MB each, as anybody may mint them. */
export async function withHugeMetadata(db: Database) {
  const names = { chain: Number(chainId), contract, collector };
  const bytes = (name: string) => `decode(substr(:${name}, 3), 'hex')`;
  await db.raw(
    `INSERT INTO token_contracts (chain_id, contract, standard, read_at) VALUES (:chain, ${bytes('contract')}, 721, now())`,
    names,
  );
  await db.raw(
    `INSERT INTO nft_tokens (chain_id, contract, token_id, standard, token_uri, uri_read_at, metadata, metadata_read_at)
     SELECT :chain, ${bytes('contract')}, n, 721, 'https://example.com/' || n, now(), '{"name":"' || repeat('x', 1000000) || '"}', now()
     FROM generate_series(1, 100) n`,
    names,
  );
  await db.raw(
    `INSERT INTO nft_holdings (chain_id, wallet, contract, token_id, standard, amount, acquired_block, acquired_log, changed_block)
     SELECT :chain, ${bytes('collector')}, ${bytes('contract')}, n, 721, 1, 1, n, 1 FROM generate_series(1, 100) n`,
    names,
  );
  return async () => {
    for (const table of ['nft_holdings', 'nft_tokens', 'token_contracts']) {
      await db.raw(`DELETE FROM ${table} WHERE chain_id = :chain AND contract = ${bytes('contract')}`, names);
    }
  };
}
