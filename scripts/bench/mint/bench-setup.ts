import { getAddress, hexlify, randomBytes } from 'ethers';
import { insertNetwork } from '../../../src/chain/network-store.ts';
import { insertCompany } from '../../../src/keys/company-store.ts';
import { issueKey } from '../../../src/keys/key-store.ts';
import { createClaimSecretVault } from '../../../src/rwa/assets/claim-secret.ts';
import { issueNfts } from '../../../src/rwa/assets/nft-issuer.ts';
import { parseRwaInput } from '../../../src/rwa/assets/rwa-input.ts';
import { createRwa } from '../../../src/rwa/operators/rwa-admin-store.ts';
import { testNetwork } from '../../../test/support/networks.ts';
import type { BenchDatabase } from '../durable-database.ts';
import { type BenchChain, confirmations } from './bench-chain.ts';
import type { Post } from './post-all.ts';

type IssuedNft = { readonly id: string; readonly secret: string };

/** A company, its key and its RWAs, on a network that mints. */
export type BenchSetup = {
  readonly db: BenchDatabase['db'];
  /** Settings of the service's processes over it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Makes NFTs that nobody has asked to mint, over the RWAs by turns. */
  issue(count: number): Promise<IssuedNft[]>;
  /** A request of `POST /nft/{id}/mint`, with a recipient and an idempotency key of its own. */
  mintRequest(nft: IssuedNft): Post;
  /** A request of `POST /rwa/{id}/mint`. */
  createRequest(index: number): Post;
};

const secretKey = Buffer.alloc(32, 7);
const vault = createClaimSecretVault(new Map([['bench', secretKey]]));
const rwaCount = 4;
const issuedAtOnce = 500;

export async function createSetup({ db, url }: BenchDatabase, chain: BenchChain): Promise<BenchSetup> {
  const company = await insertCompany(db, { name: 'Bench' });
  const { key } = await issueKey(db, 'live', { companyId: company.id, label: 'bench' });
  const { chainId, rpcUrl, contract: minterContract } = chain;
  await insertNetwork(db, testNetwork([rpcUrl], { chainId, confirmations, minterContract }));
  const rwaIds: string[] = [];
  for (let index = 0; index < rwaCount; index += 1) rwaIds.push(await addRwa(db, company.id, chain));
  const headersOf = (name: string) => ({ 'x-api-key': key, 'idempotency-key': name });

  return {
    db,
    settings: {
      DATABASE_URL: url,
      AREAS: 'rwa',
      // Otherwise the service writes a line for each request to a file, and its peer writes none.
      LOG_LEVEL: 'warn',
      SECRET_KEYS: `bench:${secretKey.toString('base64')}`,
      // One key sends everything.
      RATE_LIMIT_PER_SECOND: '0',
    },
    async issue(count) {
      const made: IssuedNft[] = [];
      for (let from = 0; from < count; from += issuedAtOnce) {
        const rwaId = rwaIds[(from / issuedAtOnce) % rwaIds.length] ?? '';
        const wanted = { companyId: company.id, rwaId, count: Math.min(issuedAtOnce, count - from) };
        const nfts = await db.transaction((tx) => issueNfts(tx, vault, wanted));
        made.push(...nfts.map(({ id, sealed }) => ({ id, secret: vault.open(id, sealed) })));
      }
      return made;
    },
    mintRequest: ({ id, secret }) => ({
      path: `/v1/api/nft/${id}/mint`,
      headers: headersOf(id),
      body: { secret, recipient: newRecipient() },
    }),
    createRequest: (index) => ({
      path: `/v1/api/rwa/${rwaIds[index % rwaIds.length]}/mint`,
      headers: headersOf(`create ${index}`),
      body: { recipient: newRecipient() },
    }),
  };
}

/** Nobody's address yet: a mint to a new owner is the dearest. */
const newRecipient = (): string => getAddress(hexlify(randomBytes(20)));

async function addRwa(db: BenchDatabase['db'], companyId: string, chain: BenchChain): Promise<string> {
  const input = parseRwaInput({
    name: 'Cask',
    type: 'whisky',
    chainId: Number(chain.chainId),
    contractAddress: chain.contract,
    isClaimable: true,
  });
  if (!input.ok) throw new Error(JSON.stringify(input.errors));
  return (await createRwa(db, companyId, input.input)).id;
}
