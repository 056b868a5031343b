import { Wallet } from 'ethers';
import { createLogger } from '../../src/base/log.ts';
import { prepareDatabase } from '../../src/compose/migrate.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { startChain } from '../support/chain.ts';
import { giveCoins, giveCollectibles } from '../support/coins.ts';
import { indexChain } from '../support/index-chain.ts';
import { startPostgres } from '../support/postgres.ts';
import { populate, serve } from '../support/serving.ts';

/** An ERC-721 contract that events can ask for. */
export type Door = {
  readonly contract: string;
  /** The owner of each of its tokens. */
  readonly owners: ReadonlyMap<string, Wallet>;
};

export type Target = {
  readonly baseUrl: string;
  readonly key: string;
  readonly otherKey: string | undefined;
  readonly wallets: readonly string[];
  readonly token: string | undefined;
  readonly door?: Door;
  close(): Promise<void>;
};

// Accounts of the chain, and one that has never been heard of.
const wallets = [
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x00000000000000000000000000000000000000aa',
];

const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

/** The service over a PostgreSQL and a chain of its own, without rate limits and without a worker. */
export async function startLocalTarget(): Promise<Target> {
  const [postgres, chain] = await Promise.all([startPostgres(), startChain()]);
  const log = createLogger({ level: 'silent' });
  const db = createDatabase(postgres.url, { poolMax: 5, log });
  await prepareDatabase(db);
  const { keys, companies } = await populate(db, { rpcUrl: chain.rpcUrl });
  const token = await giveCoins(
    chain.rpcUrl,
    Array.from({ length: 30 }, (_, number) => wallets[number % 2] ?? ''),
  );
  const [two, one] = [new Wallet(`0x${'11'.repeat(32)}`), new Wallet(`0x${'22'.repeat(32)}`)];
  const owners = new Map([
    ['1', two],
    ['2', two],
    ['3', one],
  ]);
  const collectible = await giveCollectibles(
    chain.rpcUrl,
    [...owners].map(([tokenId, { address }]) => [address, BigInt(tokenId)]),
  );
  await indexChain({ db }, chain.rpcUrl);
  const rwa = { type: 'whisky', chain_id: 31337, contract_address: contract };
  await db('rwas').insert([
    { ...rwa, company_id: companies.acme, name: 'Cask 117', is_claimable: true, claim_page: true },
    { ...rwa, company_id: companies.acme, name: 'Over the counter', is_claimable: false },
    { ...rwa, company_id: companies.globex, name: 'Solar panel', is_claimable: true },
  ]);
  const { baseUrl, close } = await serve(postgres.url, { rpcUrl: chain.rpcUrl });
  return {
    baseUrl,
    wallets,
    token,
    door: { contract: collectible, owners },
    key: keys.acme,
    otherKey: keys.globex,
    async close() {
      await close();
      await db.destroy();
      await Promise.all([chain.close(), postgres.close()]);
    },
  };
}
