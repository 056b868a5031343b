import { inject } from 'vitest';
import { type AreaContract, findOperation, readContract } from '../../../scripts/docs/contract.ts';
import { callOf } from '../../../scripts/docs/samples/call.ts';
import { createLogger } from '../../../src/base/log.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { createDatabase } from '../../../src/db/connection/connect.ts';
import { issueKey } from '../../../src/keys/key-store.ts';

const generated = new URL('../../../src/contract/generated', import.meta.url).pathname;

type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** Asks the live service as the company acme. A body is sent as JSON. */
export const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  askWith(inject('live').key, method, path, body);

async function withAcme<T>(work: (db: Database, companyId: string) => Promise<T>): Promise<T> {
  const { databaseUrl } = inject('live');
  const db = createDatabase(databaseUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  try {
    const { id } = await db('companies').where({ name: 'acme' }).first('id');
    return await work(db, id);
  } finally {
    await db.destroy();
  }
}

/** Asks the live service with a new key of acme, of which everything is known. */
export const askLimited = (method: string, path: string): Promise<Answer> =>
  withAcme(async (db, companyId) => {
    const { key, record } = await issueKey(db, 'local', {
      companyId,
      label: 'front end',
      scopes: ['events:read'],
      rateLimit: { perSecond: 20, burst: 40 },
      expiresAt: new Date('2100-01-01'),
    });
    await db('api_keys').where({ id: record.id }).update({ last_used_at: new Date() });
    return askWith(key, method, path);
  });

/** Stores some usage of acme in May 2020: that of today comes once a minute. */
export const storeUsage = (): Promise<void> =>
  withAcme(async (db, companyId) => {
    const day = '2020-05-04';
    const counts = { key_id: companyId, operation: 'listEvents', calls: 3, rejections: 1 };
    await db('usage_minutes').insert({ company_id: companyId, minute: `${day}T09:00:00Z`, ...counts });
    await db('company_gas_days').insert({ company_id: companyId, chain_id: 31337, day, wei: '42' });
  });

async function askWith(key: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const { baseUrl } = inject('live');
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

async function made<T>(path: string, body: unknown): Promise<T> {
  const { status, body: answer } = await ask('POST', path, body);
  if (status >= 300) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(answer)}`);
  return answer as T; // as documented, which other tests check
}

type Nft = {
  readonly id: string;
  readonly secret: string;
  readonly tokenId: string;
  readonly rwaId: string;
  readonly owner: string | null;
  readonly ownerSince: { readonly block: string } | null;
  readonly rwa: { readonly chainId: number; readonly contractAddress: string };
};

/** A company's things, made for one call that may change them. */
export type Things = {
  readonly eventId: string;
  readonly rwaId: string;
  readonly nftId: string;
  readonly secret: string;
  readonly snapshotId: string;
  readonly endpointId: string;
  /** Of news that were sent to the endpoint, or wait to be. */
  readonly sequence: string;
};

/** A new RWA whose NFTs can be claimed. */
const makeAsset = (): Promise<string> =>
  made<{ id: string }>('/v1/api/rwa', {
    name: 'Islay single malt, cask 117',
    description: 'One bottle of a first-fill sherry cask.',
    type: 'spirits',
    imageUrl: 'https://images.example/cask-118.jpg',
    chainId: 31337,
    isBuyable: true,
    isClaimable: true,
    price: '240.00',
    currency: 'EUR',
    data: { abv: '57.1', filled: '2014-03-09', bottles: '320', distillery: 'Port Ellen Road' },
    claimPage: true,
  }).then(({ id }) => id);

let asset: Promise<string> | undefined;

/** An RWA of this file alone: files run side by side, and each changes it. */
const claimableRwa = (): Promise<string> => (asset ??= makeAsset());

/** A new NFT that nobody has claimed. */
export async function makeNft(): Promise<Pick<Things, 'rwaId' | 'nftId' | 'secret'>> {
  const rwaId = await claimableRwa();
  const { nfts } = await made<{ nfts: [Nft] }>(`/v1/api/rwa/${rwaId}/nfts`, { count: 1 });
  return { rwaId, nftId: nfts[0].id, secret: nfts[0].secret };
}

/** A new event, with `attendees` registered, and a new NFT that nobody has claimed. */
export async function makeThings(attendees: readonly string[]): Promise<Things> {
  const { id: eventId } = await made<{ id: string }>('/events/v1/api/event', { name: 'Spring fair' });
  for (const attendeeId of attendees) await made(`/events/v1/api/event/${eventId}/attendees`, { attendeeId });
  return { eventId, ...(await makeNft()), snapshotId: await takenSnapshot(), ...(await makeDelivery()) };
}

let delivery: Pick<Things, 'endpointId' | 'sequence'> | undefined;
const endpoints = '/news/v1/api/endpoint';

/** The sequence of a delivery that has failed; undefined when the endpoint has none. */
async function failedSequence(endpointId: string): Promise<string | undefined> {
  const { status, body } = await ask('GET', `${endpoints}/${endpointId}/deliveries`);
  if (status !== 200) return undefined;
  const deliveries = body as { sequence: number; error: string | null }[]; // as documented
  const failed = deliveries.find(({ error }) => error !== null);
  return failed && String(failed.sequence);
}

/** An endpoint with a test message, which nobody takes. It is made again when a test has deleted or changed it. */
async function makeDelivery(): Promise<Pick<Things, 'endpointId' | 'sequence'>> {
  if (delivery !== undefined && (await failedSequence(delivery.endpointId)) !== undefined) return delivery;
  if (delivery !== undefined) await ask('DELETE', `${endpoints}/${delivery.endpointId}`);
  // Nobody listens there.
  const { id: endpointId } = await made<{ id: string }>(endpoints, { url: 'http://127.0.0.1:9/news' });
  await made(`${endpoints}/${endpointId}/test`, {});
  const sequence = await until('the test message', () => failedSequence(endpointId));
  delivery = { endpointId, sequence };
  return delivery;
}

let snapshot: string | undefined;

/** A snapshot with two holders. It is made again when a test has deleted it. */
async function takenSnapshot(): Promise<string> {
  if (snapshot !== undefined && (await ask('GET', `/v1/api/snapshot/${snapshot}`)).status === 200)
    return snapshot;
  const { rwaId } = await mintOne();
  await mintOne('0x90F79bf6EB2c4f870365E785982E1f101E93b906', rwaId);
  const { id } = await made<{ id: string }>(`/v1/api/rwa/${rwaId}/snapshot`, {});
  snapshot = await until(`snapshot ${id}`, async () => {
    const { state } = (await ask('GET', `/v1/api/snapshot/${id}`)).body as { state: string }; // as documented
    return state === 'taken' ? id : undefined;
  });
  return snapshot;
}

async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`${what} is not there`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Mints an NFT, of a new RWA unless one is given, and waits until its owner was read. */
export async function mintOne(recipient?: string, rwaId?: string): Promise<Nft> {
  const { nftId } = await made<{ nftId: string }>(`/v1/api/rwa/${rwaId ?? (await makeAsset())}/mint`, {
    recipient,
  });
  return until(`the owner of NFT ${nftId}`, async () => {
    const nft = (await ask('GET', `/v1/api/nft/${nftId}`)).body as Nft; // as documented
    return nft.owner === null ? undefined : nft;
  });
}

const exampleOf = (contract: readonly AreaContract[], operationId: string, name: string): string =>
  String(
    findOperation(contract, operationId).parameters.find((parameter) => parameter.name === name)?.example,
  );

/** The ids of the documents' examples, each with what it is in the live world. */
export function placeholders(contract: readonly AreaContract[], things: Things, minted: Nft) {
  const { secret } = callOf(findOperation(contract, 'mintNft')).body as { secret: string }; // its example
  return [
    [exampleOf(contract, 'getEvent', 'eventId'), things.eventId],
    [exampleOf(contract, 'getRwa', 'id'), things.rwaId],
    [exampleOf(contract, 'getNft', 'id'), things.nftId],
    [secret, things.secret],
    [exampleOf(contract, 'getSnapshot', 'id'), things.snapshotId],
    [exampleOf(contract, 'getEndpoint', 'endpointId'), things.endpointId],
    // A number that is nothing else in the documents.
    [exampleOf(contract, 'resendDelivery', 'sequence'), things.sequence],
    [exampleOf(contract, 'getTokenMetadata', 'contractAddress'), minted.rwa.contractAddress],
    [exampleOf(contract, 'getTokenMetadata', 'tokenId'), minted.tokenId],
  ] as const;
}

export const contract = await readContract(generated);
export const operations = contract.flatMap((area) => area.operations);
