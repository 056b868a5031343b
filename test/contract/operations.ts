import { randomUUID } from 'node:crypto';
import type { Area } from '../../src/contract/documents.ts';
import type { operations as BlockchainOperations } from '../../src/contract/generated/blockchain.ts';
import type { operations as ClaimOperations } from '../../src/contract/generated/claim.ts';
import type { operations as EventsOperations } from '../../src/contract/generated/events.ts';
import type { operations as NewsOperations } from '../../src/contract/generated/news.ts';
import type { operations as RwaOperations } from '../../src/contract/generated/rwa.ts';
import type { Client } from '../support/service.ts';
import { type DocumentedOperation, documentedOperations } from './documented.ts';

export type OperationId =
  | keyof BlockchainOperations
  | keyof ClaimOperations
  | keyof EventsOperations
  | keyof NewsOperations
  | keyof RwaOperations;

/** What the rows are filled with: what one company owns, and the chain that it lives on. */
export type Ids = {
  readonly eventId: string;
  readonly attendeeId: string;
  readonly rwaId: string;
  readonly nftId: string;
  readonly snapshotId: string;
  readonly secret: string;
  /** chainId/contractAddress/tokenId of a minted NFT. */
  readonly token: string;
  /** A registered network, and a wallet on it. */
  readonly chainId: string;
  readonly wallet: string;
  readonly endpointId: string;
  /** Of news that were sent to the endpoint. */
  readonly sequence: string;
};

export type Row = {
  readonly area: Area;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** The path with its query, valid in everything but what `ids` make of it. */
  readonly path: (ids: Ids) => string;
  readonly body: ((ids: Ids) => object) | undefined;
  /** Status for the caller's own data. */
  readonly own: number;
  /** Which id the operation is addressed by, and its status for ids of others; none for lists and creates. */
  readonly addressed:
    | { readonly by: keyof Ids; readonly foreign: number; readonly unknown: number }
    | undefined;
  /** Needs no key at all. */
  readonly isPublic: boolean;
};

/** Sends what a row says, with a key or with none. */
export function callRow(
  { as }: { readonly as: (key?: string) => Client },
  row: Row,
  ids: Ids,
  key: string | undefined,
) {
  const sending = as(key)[row.method](row.path(ids));
  return row.body === undefined ? sending : sending.send(row.body(ids));
}

const nowhere = '0x000000000000000000000000000000000000dead';

/** Ids that name nothing: what is refused before or because of them changes nothing anywhere. */
export function unknownIds(): Ids {
  return {
    eventId: randomUUID(),
    attendeeId: `nobody-${randomUUID()}`,
    rwaId: randomUUID(),
    nftId: randomUUID(),
    snapshotId: randomUUID(),
    secret: 'no-secret-of-anything',
    token: `1/${nowhere}/1`,
    chainId: '1',
    wallet: nowhere,
    endpointId: randomUUID(),
    sequence: '9007199254740991',
  };
}

const withSecret = ({ secret }: Ids) => ({ secret });
const withRecipient = ({ secret, wallet }: Ids) => ({ secret, recipient: wallet });

/** What the operations are sent whose body must have something. */
const bodies: Readonly<Partial<Record<OperationId, Row['body']>>> = {
  createEvent: () => ({ name: 'Tally night' }),
  updateEvent: () => ({ name: 'Renamed' }),
  addAttendee: () => ({ attendeeId: 'newcomer' }),
  removeAttendee: ({ attendeeId }) => ({ attendeeId }),
  checkInAttendees: ({ attendeeId }) => ({ items: [attendeeId] }),
  createChallenge: ({ wallet, chainId }) => ({ wallet, chainId: Number(chainId) }),
  createRwa: ({ chainId }) => ({ name: 'Cask 18', type: 'whisky', chainId: Number(chainId) }),
  updateRwa: () => ({ description: 'Changed' }),
  createRwaNfts: () => ({ count: 2 }),
  updateNft: () => ({ data: { cellar: 4 } }),
  mintNft: withSecret,
  createEndpoint: () => ({ url: 'https://partner.example/news' }),
  updateEndpoint: () => ({ enabled: true }),
  getClaim: withSecret,
  checkClaimRecipient: withRecipient,
  createClaim: withRecipient,
};

const owned = ['eventId', 'rwaId', 'nftId', 'snapshotId', 'endpointId'] as const;

/** One row for every operation of the documents. */
export const rows = Object.fromEntries(
  documentedOperations.map((operation) => [operation.id, rowOf(operation)]),
) as Readonly<Record<OperationId, Row>>; // the types are made from the same documents

function rowOf({ area, id, method, template, parameters, responses, isPublic }: DocumentedOperation): Row {
  // Some parameters are called `id`, and a token has three.
  const path = template
    .replace('{chainId}/{contractAddress}/{tokenId}', '{token}')
    .replace(/(\w+)\/\{id\}/, '$1/{$1Id}');
  // Lists of NFTs are addressed by what may be left out.
  const isNftList = id === 'listNfts';
  const query = parameters
    .filter((each) => each.in === 'query' && (each.required || (isNftList && each.name === 'rwaId')))
    .map(({ name }) => `${name}={${name}}`)
    .join('&');
  const address = query === '' ? path : `${path}?${query}`;
  const by = owned.find((name) => address.includes(`{${name}}`));
  const foreign = by === 'nftId' ? 403 : 404;
  return {
    area,
    method: method as Row['method'], // no document has others
    path: (ids) => {
      const values: Readonly<Record<string, string>> = {
        ...ids,
        address: ids.wallet,
        from: '2026-11-01',
        to: '2026-11-30',
      };
      return address.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? '');
    },
    body: bodies[id as OperationId],
    // One operation is gone.
    own: responses.find(({ status }) => status < 300)?.status ?? 410,
    addressed:
      by === undefined || isPublic
        ? undefined
        : { by, foreign: isNftList ? 200 : foreign, unknown: isNftList ? 200 : 404 },
    isPublic,
  };
}
