import { randomUUID } from 'node:crypto';
import type { Area } from '../../src/contract/documents.ts';
import type { operations as BlockchainOperations } from '../../src/contract/generated/blockchain.ts';
import type { operations as ClaimOperations } from '../../src/contract/generated/claim.ts';
import type { operations as EventsOperations } from '../../src/contract/generated/events.ts';
import type { operations as NewsOperations } from '../../src/contract/generated/news.ts';
import type { operations as RwaOperations } from '../../src/contract/generated/rwa.ts';

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
  readonly body?: (ids: Ids) => object;
  /** Status for the caller's own data. */
  readonly own: number;
  /** Which id the operation is addressed by, and its status for ids of others; none for lists and creates. */
  readonly addressed?: { readonly by: keyof Ids; readonly foreign: number; readonly unknown: number };
  /** Needs no key at all. */
  readonly isPublic?: true;
};

const blockchain = '/blockchain/v1/api';
const events = '/events/v1/api';
const rwa = '/v1/api';
const news = '/news/v1/api';
const claims = '/claim/v1/api/claims';
const walletQuery = ({ wallet, chainId }: Ids) => `address=${wallet}&chainId=${chainId}`;

const byEvent = { by: 'eventId', foreign: 404, unknown: 404 } as const;
const byEndpoint = { by: 'endpointId', foreign: 404, unknown: 404 } as const;
const endpointPath = ({ endpointId }: Ids) => `${news}/endpoint/${endpointId}`;
const byRwa = { by: 'rwaId', foreign: 404, unknown: 404 } as const;
const byNft = { by: 'nftId', foreign: 403, unknown: 404 } as const;
const bySnapshot = { by: 'snapshotId', foreign: 404, unknown: 404 } as const;
const attendee = ({ attendeeId }: Ids) => ({ attendeeId });

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

/** One row for every operation of the documents; a missing one does not compile. */
export const rows: Readonly<Record<OperationId, Row>> = {
  getWalletHistory: {
    area: 'blockchain',
    method: 'get',
    path: (ids) => `${blockchain}/wallet/history?${walletQuery(ids)}`,
    own: 200,
  },
  listWalletNfts: {
    area: 'blockchain',
    method: 'get',
    path: (ids) => `${blockchain}/nft?${walletQuery(ids)}`,
    own: 200,
  },
  listWalletTokens: {
    area: 'blockchain',
    method: 'get',
    path: (ids) => `${blockchain}/wallet/tokens?${walletQuery(ids)}`,
    own: 200,
  },
  listWalletApprovals: {
    area: 'blockchain',
    method: 'get',
    path: (ids) => `${blockchain}/wallet/approvals?${walletQuery(ids)}`,
    own: 200,
  },
  getWalletReconciliation: {
    area: 'blockchain',
    method: 'get',
    path: (ids) => `${blockchain}/wallet/reconciliation?${walletQuery(ids)}`,
    own: 200,
  },
  listWalletChains: {
    area: 'blockchain',
    method: 'get',
    path: ({ wallet }) => `${blockchain}/wallet/chains?address=${wallet}`,
    own: 200,
  },
  getTokenBalance: {
    area: 'blockchain',
    method: 'get',
    path: (ids) => `${blockchain}/token/balance?${walletQuery(ids)}`,
    own: 200,
  },
  getBlockchainKey: { area: 'blockchain', method: 'get', path: () => `${blockchain}/key`, own: 200 },
  getEventsKey: { area: 'events', method: 'get', path: () => `${events}/key`, own: 200 },
  getRwaKey: { area: 'rwa', method: 'get', path: () => `${rwa}/key`, own: 200 },
  getUsage: {
    area: 'rwa',
    method: 'get',
    path: () => `${rwa}/usage?from=2026-11-01&to=2026-11-30`,
    own: 200,
  },
  getNewsKey: { area: 'news', method: 'get', path: () => `${news}/key`, own: 200 },

  listEvents: { area: 'events', method: 'get', path: () => `${events}/event`, own: 200 },
  createEvent: {
    area: 'events',
    method: 'post',
    path: () => `${events}/event`,
    body: () => ({ name: 'Tally night' }),
    own: 201,
  },
  getEvent: {
    area: 'events',
    method: 'get',
    path: ({ eventId }) => `${events}/event/${eventId}`,
    own: 200,
    addressed: byEvent,
  },
  updateEvent: {
    area: 'events',
    method: 'patch',
    path: ({ eventId }) => `${events}/event/${eventId}`,
    body: () => ({ name: 'Renamed' }),
    own: 200,
    addressed: byEvent,
  },
  deleteEvent: {
    area: 'events',
    method: 'delete',
    path: ({ eventId }) => `${events}/event/${eventId}`,
    own: 204,
    addressed: byEvent,
  },
  listAttendees: {
    area: 'events',
    method: 'get',
    path: ({ eventId }) => `${events}/event/${eventId}/attendees`,
    own: 200,
    addressed: byEvent,
  },
  addAttendee: {
    area: 'events',
    method: 'post',
    path: ({ eventId }) => `${events}/event/${eventId}/attendees`,
    body: () => ({ attendeeId: 'newcomer' }),
    own: 201,
    addressed: byEvent,
  },
  removeAttendee: {
    area: 'events',
    method: 'delete',
    path: ({ eventId }) => `${events}/event/${eventId}/attendees`,
    body: attendee,
    own: 204,
    addressed: byEvent,
  },
  removeAttendeeById: {
    area: 'events',
    method: 'delete',
    path: ({ eventId, attendeeId }) => `${events}/event/${eventId}/attendees/${attendeeId}`,
    own: 204,
    addressed: byEvent,
  },
  getTicket: {
    area: 'events',
    method: 'get',
    path: ({ eventId, attendeeId }) => `${events}/event/${eventId}/attendees/${attendeeId}/ticket`,
    own: 200,
    addressed: byEvent,
  },
  checkInAttendees: {
    area: 'events',
    method: 'post',
    path: ({ eventId }) => `${events}/event/${eventId}/checkin`,
    body: ({ attendeeId }) => ({ items: [attendeeId] }),
    own: 200,
    addressed: byEvent,
  },
  listRevokedTickets: {
    area: 'events',
    method: 'get',
    path: ({ eventId }) => `${events}/event/${eventId}/tickets/revoked`,
    own: 200,
    addressed: byEvent,
  },
  getTicketKeys: {
    area: 'events',
    method: 'get',
    path: () => `${events}/tickets/jwks`,
    own: 200,
    isPublic: true,
  },
  getEligibility: {
    area: 'events',
    method: 'get',
    path: ({ eventId, wallet }) => `${events}/event/${eventId}/eligibility?wallet=${wallet}`,
    own: 200,
    addressed: byEvent,
  },
  createChallenge: {
    area: 'events',
    method: 'post',
    path: ({ eventId }) => `${events}/event/${eventId}/challenge`,
    body: ({ wallet, chainId }) => ({ wallet, chainId: Number(chainId) }),
    own: 200,
    addressed: byEvent,
  },

  listRwas: { area: 'rwa', method: 'get', path: () => `${rwa}/rwa`, own: 200 },
  getRwa: {
    area: 'rwa',
    method: 'get',
    path: ({ rwaId }) => `${rwa}/rwa/${rwaId}`,
    own: 200,
    addressed: byRwa,
  },
  createRwa: {
    area: 'rwa',
    method: 'post',
    path: () => `${rwa}/rwa`,
    body: ({ chainId }) => ({ name: 'Cask 18', type: 'whisky', chainId: Number(chainId) }),
    own: 201,
  },
  updateRwa: {
    area: 'rwa',
    method: 'patch',
    path: ({ rwaId }) => `${rwa}/rwa/${rwaId}`,
    body: () => ({ description: 'Changed' }),
    own: 200,
    addressed: byRwa,
  },
  listRwaNfts: {
    area: 'rwa',
    method: 'get',
    path: ({ rwaId }) => `${rwa}/rwa/${rwaId}/nfts`,
    own: 200,
    addressed: byRwa,
  },
  createRwaNfts: {
    area: 'rwa',
    method: 'post',
    path: ({ rwaId }) => `${rwa}/rwa/${rwaId}/nfts`,
    body: () => ({ count: 2 }),
    own: 200,
    addressed: byRwa,
  },
  createAndMintNft: {
    area: 'rwa',
    method: 'post',
    path: ({ rwaId }) => `${rwa}/rwa/${rwaId}/mint`,
    body: () => ({}),
    own: 200,
    addressed: byRwa,
  },
  listNfts: {
    area: 'rwa',
    method: 'get',
    path: ({ rwaId }) => `${rwa}/nft?rwaId=${rwaId}`,
    own: 200,
    addressed: { by: 'rwaId', foreign: 200, unknown: 200 },
  },
  getNft: {
    area: 'rwa',
    method: 'get',
    path: ({ nftId }) => `${rwa}/nft/${nftId}`,
    own: 200,
    addressed: byNft,
  },
  updateNft: {
    area: 'rwa',
    method: 'patch',
    path: ({ nftId }) => `${rwa}/nft/${nftId}`,
    body: () => ({ data: { cellar: 4 } }),
    own: 200,
    addressed: { by: 'nftId', foreign: 403, unknown: 404 },
  },
  mintNft: {
    area: 'rwa',
    method: 'post',
    path: ({ nftId }) => `${rwa}/nft/${nftId}/mint`,
    body: ({ secret }) => ({ secret }),
    own: 200,
    addressed: byNft,
  },
  claimNft: { area: 'rwa', method: 'post', path: () => `${rwa}/nft/claim`, body: () => ({}), own: 410 },
  listNftTransfers: {
    area: 'rwa',
    method: 'get',
    path: ({ nftId }) => `${rwa}/nft/${nftId}/transfers`,
    own: 200,
    addressed: byNft,
  },
  listRwaHolders: {
    area: 'rwa',
    method: 'get',
    path: ({ rwaId }) => `${rwa}/rwa/${rwaId}/holders`,
    own: 200,
    addressed: byRwa,
  },
  createSnapshot: {
    area: 'rwa',
    method: 'post',
    path: ({ rwaId }) => `${rwa}/rwa/${rwaId}/snapshot`,
    body: () => ({}),
    own: 202,
    addressed: byRwa,
  },
  getSnapshot: {
    area: 'rwa',
    method: 'get',
    path: ({ snapshotId }) => `${rwa}/snapshot/${snapshotId}`,
    own: 200,
    addressed: bySnapshot,
  },
  getSnapshotProof: {
    area: 'rwa',
    method: 'get',
    path: ({ snapshotId, wallet }) => `${rwa}/snapshot/${snapshotId}/proof?wallet=${wallet}`,
    own: 200,
    addressed: bySnapshot,
  },
  getTokenMetadata: {
    area: 'rwa',
    method: 'get',
    path: ({ token }) => `${rwa}/metadata/${token}`,
    own: 200,
    isPublic: true,
  },

  listNews: { area: 'news', method: 'get', path: () => `${news}/feed`, own: 200 },
  listEndpoints: { area: 'news', method: 'get', path: () => `${news}/endpoint`, own: 200 },
  createEndpoint: {
    area: 'news',
    method: 'post',
    path: () => `${news}/endpoint`,
    body: () => ({ url: 'https://partner.example/news' }),
    own: 201,
  },
  getEndpoint: { area: 'news', method: 'get', path: endpointPath, own: 200, addressed: byEndpoint },
  updateEndpoint: {
    area: 'news',
    method: 'patch',
    path: endpointPath,
    body: () => ({ enabled: true }),
    own: 200,
    addressed: byEndpoint,
  },
  deleteEndpoint: { area: 'news', method: 'delete', path: endpointPath, own: 204, addressed: byEndpoint },
  rotateEndpointSecret: {
    area: 'news',
    method: 'post',
    path: (ids) => `${endpointPath(ids)}/secret`,
    own: 200,
    addressed: byEndpoint,
  },
  sendTestMessage: {
    area: 'news',
    method: 'post',
    path: (ids) => `${endpointPath(ids)}/test`,
    own: 202,
    addressed: byEndpoint,
  },
  listDeliveries: {
    area: 'news',
    method: 'get',
    path: (ids) => `${endpointPath(ids)}/deliveries`,
    own: 200,
    addressed: byEndpoint,
  },
  resendDelivery: {
    area: 'news',
    method: 'post',
    path: (ids) => `${endpointPath(ids)}/deliveries/${ids.sequence}/resend`,
    own: 200,
    addressed: byEndpoint,
  },

  getClaim: {
    area: 'claim',
    method: 'post',
    path: ({ nftId }) => `${claims}/${nftId}/state`,
    body: ({ secret }) => ({ secret }),
    own: 200,
    isPublic: true,
  },
  checkClaimRecipient: {
    area: 'claim',
    method: 'post',
    path: ({ nftId }) => `${claims}/${nftId}/recipient`,
    body: ({ secret, wallet }) => ({ secret, recipient: wallet }),
    own: 200,
    isPublic: true,
  },
  createClaim: {
    area: 'claim',
    method: 'post',
    path: ({ nftId }) => `${claims}/${nftId}`,
    body: ({ secret, wallet }) => ({ secret, recipient: wallet }),
    own: 200,
    isPublic: true,
  },
};
