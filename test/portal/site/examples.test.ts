import { beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../../scripts/docs/contract.ts';
import { ask, askLimited, makeThings, mintOne, operations, storeUsage, type Things } from './sample-world.ts';
import { shapeOf } from './shape.ts';

// Whatever a company or a token's maker has put there.
const free = ['data', 'metadata', 'normalized_metadata', 'collection_metadata'];

const wallet = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
// Who makes the blocks of the sample chain, who was made to look like a payer, a contract, and who lets others spend.
const operator = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const victim = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65';
const market = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9';
const forgery = '0x5fc8d32690cc91d4c39d9d3abcbd16989f875707';
const owners = [
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
];
const onChain = `address=${wallet}&chainId=31337`;
const blockchain = '/blockchain/v1/api';
const events = '/events/v1/api/event';
const news = '/news/v1/api';
const claims = '/claim/v1/api/claims';

type World = Things & { readonly metadata: string };
type Request = readonly [method: string, path: string, body?: unknown];

/** After that nothing has failed yet. */
const enabledAgain = (endpointId: string): readonly Request[] => [
  ['PATCH', `${news}/endpoint/${endpointId}`, { types: ['nft.minted'], enabled: false }],
  ['PATCH', `${news}/endpoint/${endpointId}`, { enabled: true }],
];

/** Requirements that the owner of the minted NFT meets. */
const gated = () => ({
  chainId: 31337,
  contractRequiredToAttend: [minted.rwa.contractAddress],
  contractRequiredToDiscount: [minted.rwa.contractAddress],
});

const publicFields = {
  attributes: [{ trait_type: 'Bottle', value: '14 of 320' }],
  imageUrl: 'https://images.example/bottle-14.jpg',
};

/** The id and the time of a scan. */
const stampOf = (number: number) => ({
  scanId: `6f0b8f5e-3f0a-4a52-9a3e-2f4f6f4c1d0${number}`,
  at: new Date(Date.now() - 60_000 + number).toISOString(),
});

/** Requests to the sample world whose answers have everything that an operation can answer there. */
const requests: Readonly<Record<string, (world: World) => readonly Request[]>> = {
  getWalletHistory: () => [
    ['GET', `${blockchain}/wallet/history?${onChain}&limit=40`],
    ['GET', `${blockchain}/wallet/history?${onChain}&limit=100&order=ASC`],
    ['GET', `${blockchain}/wallet/history?address=0x000000000000000000000000000000000000dead&chainId=31337`],
    ['GET', `${blockchain}/wallet/history?address=${operator}&chainId=31337&entries=rewards&limit=5`],
    ['GET', `${blockchain}/wallet/history?address=${victim}&chainId=31337&token=${forgery}`],
  ],
  listWalletNfts: () => [
    ['GET', `${blockchain}/nft?${onChain}&limit=2`],
    ['GET', `${blockchain}/nft?${onChain}&limit=100`],
  ],
  listWalletTokens: () => [['GET', `${blockchain}/wallet/tokens?${onChain}&limit=100`]],
  listWalletApprovals: () =>
    owners.map((owner) => ['GET', `${blockchain}/wallet/approvals?address=${owner}&chainId=31337&limit=100`]),
  listNetworks: () => [['GET', `${blockchain}/networks`]],
  listWalletChains: () => [['GET', `${blockchain}/wallet/chains?address=${wallet}`]],
  getWalletReconciliation: () => [
    ['GET', `${blockchain}/wallet/reconciliation?${onChain}`],
    ['GET', `${blockchain}/wallet/reconciliation?address=${market}&chainId=31337`],
  ],
  getTokenBalance: () => [
    ['GET', `${blockchain}/token/balance?${onChain}`],
    ['GET', `${blockchain}/token/balance?${onChain}&contractAddress=${token}`],
  ],
  getBlockchainKey: () => [['GET', `${blockchain}/key`]],
  getEventsKey: () => [['GET', '/events/v1/api/key']],
  getRwaKey: () => [['GET', '/v1/api/key']],
  getUsage: () =>
    ['operation', 'key'].map((by) => ['GET', `/v1/api/usage?from=2020-05-01&to=2020-05-31&by=${by}`]),
  getNewsKey: () => [['GET', `${news}/key`]],
  listEvents: ({ eventId }) => [
    ['PATCH', `${events}/${eventId}`, full],
    ['POST', events, { name: 'Spring fair' }],
    ['GET', events],
    ['GET', `${events}?startsFrom=2099-01-01`],
  ],
  createEvent: () => [['POST', events, { name: 'Spring fair' }]],
  getEvent: ({ eventId }) => [
    ['GET', `${events}/${eventId}`],
    ['PATCH', `${events}/${eventId}`, full],
    ['GET', `${events}/${eventId}`],
  ],
  updateEvent: ({ eventId }) => [
    ['PATCH', `${events}/${eventId}`, full],
    ['PATCH', `${events}/${eventId}`, { maxAttendees: 40, discountPrice: null }],
  ],
  listAttendees: ({ eventId }) => [
    ['GET', `${events}/${eventId}/attendees`],
    ['POST', `${events}/${eventId}/checkin`, { scans: [{ attendeeId: 'user-7421' }] }],
    ['GET', `${events}/${eventId}/attendees`],
    ['DELETE', `${events}/${eventId}/attendees/user-7421`],
    ['GET', `${events}/${eventId}/attendees`],
  ],
  getTicket: ({ eventId }) => [['GET', `${events}/${eventId}/attendees/user-7421/ticket`]],
  checkInAttendees: ({ eventId }) => [
    [
      'POST',
      `${events}/${eventId}/checkin`,
      {
        scans: ['user-7421', 'user-7421', 'nobody'].map((attendeeId) => ({ attendeeId, gate: 'North' })),
        sentAt: '2027-05-04T08:41:12Z',
      },
    ],
    ['POST', `${events}/${eventId}/attendees`, { attendeeId: 'user-0017', label: 'Table 12' }],
    [
      'POST',
      `${events}/${eventId}/checkin`,
      {
        scans: [
          { attendeeId: 'user-0017', ...stampOf(1) },
          { attendeeId: 'user-0017', kind: 'exit', ...stampOf(2) },
        ],
      },
    ],
  ],
  getCheckInSummary: ({ eventId }) => [
    ['POST', `${events}/${eventId}/checkin`, { scans: [{ attendeeId: 'user-7421', gate: 'North' }] }],
    ['POST', `${events}/${eventId}/attendees`, { attendeeId: 'user-0017' }],
    ['POST', `${events}/${eventId}/checkin`, { scans: [{ attendeeId: 'user-0017' }] }],
    ['GET', `${events}/${eventId}/checkin/summary`],
  ],
  listCheckInScans: ({ eventId }) => [
    ['GET', `${events}/${eventId}/checkin/scans`],
    [
      'POST',
      `${events}/${eventId}/checkin`,
      {
        scans: [
          { attendeeId: 'user-7421', gate: 'North', ...stampOf(1) },
          { attendeeId: 'user-7421', kind: 'exit', ...stampOf(2) },
          { kind: 'undo', undoes: stampOf(2).scanId, ...stampOf(3) },
        ],
      },
    ],
    ['GET', `${events}/${eventId}/checkin/scans`],
  ],
  getDoor: ({ eventId }) => [
    ['PATCH', `${events}/${eventId}`, full],
    ['GET', `${events}/${eventId}/door`],
  ],
  listRevokedTickets: ({ eventId }) => [
    ['GET', `${events}/${eventId}/tickets/revoked`],
    ['DELETE', `${events}/${eventId}/attendees/user-7421`],
    ['GET', `${events}/${eventId}/tickets/revoked`],
  ],
  getTicketKeys: () => [['GET', '/events/v1/api/tickets/jwks']],
  addAttendee: ({ eventId }) => [
    ['POST', `${events}/${eventId}/attendees`, { attendeeId: 'user-0017' }],
    ['PATCH', `${events}/${eventId}`, { ...gated(), oneAdmissionPerToken: true, price: 30 }],
    [
      'POST',
      `${events}/${eventId}/attendees`,
      { attendeeId: 'user-0018', wallet: minted.owner, tokenIds: [minted.tokenId] },
    ],
  ],
  getEligibility: ({ eventId }) => [
    ['PATCH', `${events}/${eventId}`, { ...full, ...gated() }],
    ['GET', `${events}/${eventId}/eligibility?wallet=${minted.owner}`],
    [
      'PATCH',
      `${events}/${eventId}`,
      { contractRequiredToAttend: ['membership'], contractRequiredToDiscount: [] },
    ],
    ['GET', `${events}/${eventId}/eligibility?wallet=${minted.owner}`],
  ],
  createChallenge: ({ eventId }) => [['POST', `${events}/${eventId}/challenge`, { wallet, chainId: 31337 }]],
  listRwas: () => [
    ['GET', '/v1/api/rwa'],
    ['GET', '/v1/api/rwa?type=none'],
  ],
  createRwa: () => [
    [
      'POST',
      '/v1/api/rwa',
      { name: 'Cask 118', type: 'spirits', chainId: 31337, price: '5.00', currency: 'EUR' },
    ],
    [
      'POST',
      '/v1/api/rwa',
      {
        name: 'Cask 119',
        type: 'spirits',
        chainId: 31337,
        isClaimable: true,
        description: 'x',
        imageUrl: 'https://images.example/119.jpg',
        data: { bottles: 320 },
      },
    ],
  ],
  updateRwa: ({ rwaId }) => [['PATCH', `/v1/api/rwa/${rwaId}`, {}]],
  getRwa: ({ rwaId }) => [['GET', `/v1/api/rwa/${rwaId}`]],
  listRwaNfts: ({ rwaId, nftId }) => [
    ['PATCH', `/v1/api/nft/${nftId}`, publicFields],
    ['GET', `/v1/api/rwa/${rwaId}/nfts?limit=200`],
    ['GET', `/v1/api/rwa/${minted.rwaId}/nfts`],
    ['GET', `/v1/api/rwa/${rwaId}/nfts?offset=100000`],
  ],
  createRwaNfts: ({ rwaId }) => [['POST', `/v1/api/rwa/${rwaId}/nfts`, { count: 1 }]],
  createAndMintNft: ({ rwaId }) => [['POST', `/v1/api/rwa/${rwaId}/mint`, {}]],
  listNfts: ({ rwaId, nftId }) => [
    ['GET', `/v1/api/nft?rwaId=${minted.rwaId}`],
    ['PATCH', `/v1/api/nft/${nftId}`, publicFields],
    ['GET', `/v1/api/nft?rwaId=${rwaId}&limit=200`],
    ['GET', '/v1/api/nft?updatedSince=2099-01-01'],
  ],
  getNft: ({ nftId }) => [
    ['GET', `/v1/api/nft/${nftId}`],
    ['PATCH', `/v1/api/nft/${nftId}`, publicFields],
    ['GET', `/v1/api/nft/${nftId}`],
  ],
  updateNft: ({ nftId }) => [
    ['PATCH', `/v1/api/nft/${nftId}`, {}],
    ['PATCH', `/v1/api/nft/${nftId}`, { data: { cellar: 4 }, ...publicFields }],
  ],
  mintNft: ({ nftId, secret }) => [['POST', `/v1/api/nft/${nftId}/mint`, { secret }]],
  listNftTransfers: ({ nftId }) => [
    ['GET', `/v1/api/nft/${minted.id}/transfers`],
    ['GET', `/v1/api/nft/${nftId}/transfers`],
  ],
  listRwaHolders: () => [
    ['GET', `/v1/api/rwa/${minted.rwaId}/holders`],
    ['GET', `/v1/api/rwa/${minted.rwaId}/holders?asOf=${Number(minted.ownerSince?.block) - 1}`],
  ],
  createSnapshot: () => [['POST', `/v1/api/rwa/${minted.rwaId}/snapshot`, {}]],
  getSnapshot: ({ snapshotId }) => [['GET', `/v1/api/snapshot/${snapshotId}`]],
  getSnapshotProof: ({ snapshotId }) => [
    ['GET', `/v1/api/snapshot/${snapshotId}/proof?wallet=${minted.owner}`],
  ],
  getTokenMetadata: ({ metadata }) => [['GET', metadata]],
  listNews: () => [
    ['GET', `${news}/feed?limit=200`],
    ['GET', `${news}/feed?types=endpoint.disabled`],
  ],
  listEndpoints: () => [
    // Of a new one nothing has failed yet.
    ['POST', `${news}/endpoint`, { url: 'https://partner.example/news', types: ['endpoint.disabled'] }],
    ['GET', `${news}/endpoint`],
  ],
  createEndpoint: () => [
    ['POST', `${news}/endpoint`, { url: 'https://partner.example/news', types: ['nft.minted'] }],
  ],
  getEndpoint: ({ endpointId }) => [...enabledAgain(endpointId), ['GET', `${news}/endpoint/${endpointId}`]],
  updateEndpoint: ({ endpointId }) => [...enabledAgain(endpointId)],
  rotateEndpointSecret: ({ endpointId }) => [['POST', `${news}/endpoint/${endpointId}/secret`, {}]],
  sendTestMessage: ({ endpointId }) => [['POST', `${news}/endpoint/${endpointId}/test`]],
  listDeliveries: ({ endpointId }) => [['GET', `${news}/endpoint/${endpointId}/deliveries`]],
  resendDelivery: ({ endpointId, sequence }) => [
    ['POST', `${news}/endpoint/${endpointId}/deliveries/${sequence}/resend`],
  ],
  getClaim: ({ nftId, secret }) => [
    ['POST', `${claims}/${nftId}/state`, { secret }],
    ['POST', `${claims}/${minted.id}/state`, { secret: minted.secret }],
  ],
  checkClaimRecipient: ({ nftId, secret }) => [
    ['POST', `${claims}/${nftId}/recipient`, { secret, recipient: wallet }],
  ],
  createClaim: ({ nftId, secret }) => [['POST', `${claims}/${nftId}`, { secret, recipient: wallet }]],
};

const full = {
  location: 'Long barn, Ely',
  description: 'Supper.',
  program: '18:00 doors',
  startDate: '2027-09-18T19:00:00+02:00',
  endDate: '2027-09-19T00:00:00+02:00',
  maxAttendees: 50,
  price: 45.5,
  currency: 'EUR',
  discountPrice: 30,
  contractRequiredToAttend: ['0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0'],
  contractRequiredToDiscount: ['0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'],
  coverImage: 'https://images.tallystick.example/supper.jpg',
  galleryImages: ['https://images.tallystick.example/barn.jpg'],
  chainId: 31337,
};

/** The examples of the answer that an operation gives when all is well; none where it has no body. */
const examplesOf = ({ responses }: Operation): unknown[] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => Object.values(content ?? {}))
    .flatMap(({ examples }) => Object.values(examples ?? {}).map(({ value }) => value));

const answering = operations.filter((operation) => examplesOf(operation).length > 0);

let minted: Awaited<ReturnType<typeof mintOne>>;
beforeAll(async () => {
  minted = await mintOne();
});

/** What the live service answers to an operation's requests, in a fresh corner of its world. */
async function answersTo({ operationId, method, fullPath }: Operation): Promise<unknown[]> {
  const things = await makeThings(['user-7421']);
  const { rwa, tokenId } = minted;
  const metadata = `/v1/api/metadata/${rwa.chainId}/${rwa.contractAddress}/${tokenId}`;
  const answers: unknown[] = [];
  const form = new RegExp(`^${fullPath.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
  if (operationId === 'getUsage') await storeUsage();
  for (const request of requests[operationId]?.({ ...things, metadata }) ?? []) {
    const { status, body } = await ask(...request);
    expect([...request, status < 300]).toEqual([...request, true]);
    // The others only prepare what this one answers.
    if (request[0] === method && form.test(request[1])) answers.push(body);
  }
  if (/^get\w+Key$/.test(operationId)) answers.push((await askLimited('GET', fullPath)).body);
  if (operationId === 'getNft') answers.push((await ask('GET', `/v1/api/nft/${minted.id}`)).body);
  return answers;
}

test('every operation that answers something has requests here', () => {
  expect(answering.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(requests).toSorted(),
  );
});

describe.each(answering.map((operation) => [operation.operationId, operation] as const))(
  'the examples of %s',
  (_operationId, operation) => {
    let live: ReturnType<typeof shapeOf>;
    let documented: ReturnType<typeof shapeOf>;
    beforeAll(async () => {
      live = shapeOf(await answersTo(operation), free);
      documented = shapeOf(examplesOf(operation), free);
    });

    test('have no field that the service does not answer, and lack none', () => {
      expect([...documented.keys()].toSorted()).toEqual([...live.keys()].toSorted());
    });

    test('have values of the kinds that the service answers', () => {
      for (const [place, { kinds }] of documented) {
        const known = live.get(place)?.kinds ?? new Set();
        expect([place, [...kinds].filter((kind) => !known.has(kind))]).toEqual([place, []]);
      }
    });

    test('use the words that the service uses', () => {
      for (const word of [
        'category',
        'direction',
        'contract_type',
        'claimStatus',
        'receipt_status',
        'status',
        'message',
        'trait_type',
        'method_label',
      ]) {
        for (const [place, { values }] of documented) {
          if (place.split('.').at(-1) !== word) continue;
          // Each text to sign has another nonce.
          if (operation.operationId === 'createChallenge') continue;
          const known = live.get(place)?.values ?? new Set();
          expect([place, [...values].filter((value) => !known.has(value))]).toEqual([place, []]);
        }
      }
    });
  },
);
