import type { ProblemCode } from '../../src/base/errors.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Answer } from '../support/conformance.ts';

/** Why a request that fits the document may be refused all the same, by rules that it tells in words. */
type Refusals = { readonly codes?: readonly ProblemCode[]; readonly messages?: readonly RegExp[] };

const checksum = /has a wrong EIP-55 checksum$/;
const day = /must be an RFC 3339 date or date-time that the calendar has/;
const network = /^Network with chainId .* not found$/s;
const range = /^(from|to)Date must not be sent together with|^to(Block|Date) must not be (below|before) from/;
const besideCursor = /^offset must be 0 or left out beside a cursor/;
const zero = /must not be the zero address$/;
const ofEvents = [
  /^name must (not be empty|have a visible character)$/,
  day,
  network,
  /^endDate must not be before|^startDate must not be after/,
  /^discountPrice must not be above|^price must not be below|^discountPercentage must agree with/,
  /must be a URL such as/,
  /^currency must be written in capitals/,
];

const ofRwas = [
  network,
  /^(name|type|description) must (not be empty|have a visible character)$/,
  /^contractAddress (is not fit\.|is required|lets none of|cannot change|has a wrong EIP-55|must not be the zero)/,
  /^chainId cannot change/,
  /^currency is needed with a price$/,
  /^(imageUrl|claimBaseUrl) must be an http\(s\) URL$/,
];

const businessRefusals: Readonly<Record<OperationId, Refusals>> = {
  getWalletHistory: {
    codes: [
      ...(['network_not_found', 'cursor_invalid', 'headers_too_large'] as const),
      ...(['filter_unsupported', 'block_not_indexed'] as const),
    ],
    messages: [checksum, network, day, range],
  },
  listWalletNfts: {
    codes: [
      ...(['network_not_found', 'cursor_invalid', 'headers_too_large'] as const),
      ...(['filter_unsupported', 'block_not_indexed'] as const),
    ],
    messages: [checksum, network, day, range],
  },
  listWalletTokens: {
    codes: ['network_not_found', 'cursor_invalid', 'headers_too_large'],
    messages: [checksum, network],
  },
  listWalletApprovals: {
    codes: ['network_not_found', 'cursor_invalid', 'headers_too_large', 'operation_unsupported'],
    messages: [checksum, network],
  },
  getWalletReconciliation: {
    codes: ['network_not_found', 'operation_unsupported', 'block_not_indexed', 'as_of_too_far'],
    messages: [checksum, network],
  },
  listWalletChains: { messages: [checksum] },
  getBlockchainKey: {},
  getEventsKey: {},
  getRwaKey: {},
  getNewsKey: {},
  getUsage: {
    messages: [
      /^(from|to) must be a date that the calendar has$/,
      /^to must (not be before from|be at most 31 days)/,
    ],
  },
  getTokenBalance: { codes: ['network_not_found', 'not_erc20'], messages: [checksum, network] },
  listEvents: { codes: ['cursor_invalid'], messages: [day, besideCursor] },
  createEvent: { codes: ['network_not_found'], messages: ofEvents },
  getEvent: { codes: ['event_not_found'] },
  updateEvent: {
    codes: [
      'event_not_found',
      'network_not_found',
      'max_attendees_too_low',
      'precondition_failed',
      'etag_weakened',
    ],
    messages: ofEvents,
  },
  deleteEvent: { codes: ['event_not_found', 'precondition_failed', 'etag_weakened'] },
  listAttendees: { codes: ['event_not_found', 'cursor_invalid'] },
  addAttendee: {
    codes: [
      ...(['event_not_found', 'attendee_already_invited', 'event_full'] as const),
      ...(['wallet_required', 'proof_required', 'proof_invalid', 'wallet_not_eligible'] as const),
      ...(['token_ids_required', 'tokens_used', 'eligibility_unavailable'] as const),
    ],
    messages: [checksum],
  },
  getEligibility: { codes: ['event_not_found', 'eligibility_unavailable'], messages: [checksum] },
  createChallenge: {
    codes: ['event_not_found', 'network_not_found'],
    messages: [checksum, network, /^chainId is required/],
  },
  removeAttendee: { codes: ['event_not_found', 'attendee_not_found'] },
  removeAttendeeById: { codes: ['event_not_found', 'attendee_not_found'] },
  getTicket: { codes: ['event_not_found', 'attendee_not_found'] },
  checkInAttendees: { codes: ['event_not_found', 'eligibility_unavailable'] },
  listRevokedTickets: { codes: ['event_not_found', 'cursor_invalid'] },
  getTicketKeys: {},
  listRwas: { codes: ['cursor_invalid'], messages: [besideCursor] },
  getRwa: { codes: ['rwa_not_found'] },
  createRwa: { codes: ['network_not_found', 'contract_taken', 'contract_unverified'], messages: ofRwas },
  updateRwa: {
    codes: [
      ...(['rwa_not_found', 'network_not_found', 'contract_taken', 'contract_unverified'] as const),
      ...(['precondition_failed', 'etag_weakened'] as const),
    ],
    messages: ofRwas,
  },
  updateNft: {
    codes: ['nft_not_found', 'precondition_failed', 'etag_weakened'],
    messages: [
      /^attributes must not have Type, Serial or Issuer/,
      /^imageUrl must be an http/,
      /^url must be a URI$/,
    ],
  },
  listRwaNfts: { codes: ['rwa_not_found', 'cursor_invalid'], messages: [day, besideCursor] },
  createRwaNfts: { codes: ['rwa_not_found'] },
  createAndMintNft: {
    codes: [
      'rwa_not_found',
      'rwa_not_claimable',
      'minting_unsupported',
      'contract_unmintable',
      'recipient_required',
      'recipient_unusable',
    ],
    messages: [checksum, zero],
  },
  listNfts: { codes: ['cursor_invalid'], messages: [day, besideCursor, checksum] },
  listNftTransfers: { codes: ['nft_not_found', 'cursor_invalid'] },
  listRwaHolders: {
    codes: ['rwa_not_found', 'cursor_invalid', 'as_of_not_read', 'owners_unread'],
    messages: [day],
  },
  createSnapshot: { codes: ['rwa_not_found', 'as_of_not_read', 'owners_unread'], messages: [day] },
  getSnapshot: { codes: ['snapshot_not_found', 'snapshot_pending'] },
  getSnapshotProof: {
    codes: ['snapshot_not_found', 'snapshot_pending', 'holder_not_found'],
    messages: [checksum],
  },
  getNft: { codes: ['nft_not_found'] },
  mintNft: {
    codes: [
      'nft_not_found',
      'secret_invalid',
      'secret_locked',
      'recipient_unusable',
      'rwa_not_claimable',
      'nft_already_queued',
      'nft_already_minted',
    ],
    messages: [checksum, zero],
  },
  claimNft: { codes: ['claim_gone'] },
  getTokenMetadata: { codes: ['token_not_found'], messages: [checksum] },
  listNews: { codes: ['cursor_invalid', 'feed_restarted'] },
  listEndpoints: {},
  createEndpoint: { codes: ['endpoint_limit_reached'], messages: [/^url must be a public https address/] },
  getEndpoint: { codes: ['endpoint_not_found'] },
  updateEndpoint: {
    codes: ['endpoint_not_found', 'endpoint_outdated'],
    messages: [/^url must be a public https address/],
  },
  deleteEndpoint: { codes: ['endpoint_not_found'] },
  rotateEndpointSecret: { codes: ['endpoint_not_found'] },
  sendTestMessage: { codes: ['endpoint_not_found'] },
  listDeliveries: { codes: ['endpoint_not_found', 'cursor_invalid'] },
  resendDelivery: { codes: ['endpoint_not_found', 'delivery_not_found'] },
  getClaim: { codes: ['claim_not_found', 'secret_locked'] },
  checkClaimRecipient: {
    codes: ['claim_not_found', 'secret_locked', 'recipient_unusable'],
    messages: [checksum, zero],
  },
  createClaim: {
    codes: [
      'claim_not_found',
      'secret_locked',
      'recipient_unusable',
      'rwa_not_claimable',
      'nft_already_queued',
      'nft_already_minted',
    ],
    messages: [checksum, zero],
  },
};

// What a caller must never see: a stack, a query, a path of ours, a type of the runtime.
const leak =
  /\bat [\w.<>]+ \(|node_modules|\/src\/\w+|SELECT |INSERT INTO|TypeError|ReferenceError|\[object Object\]/;

/** What is wrong with any answer, whatever was asked. */
export function faultsOfAnswer(answer: Answer, faultsOf: (answer: Answer) => readonly string[]): string[] {
  const { status, headers, text } = answer;
  const faults: string[] = [];
  if (status >= 500) faults.push(`answered ${status}`);
  if (status >= 400 && leak.test(text)) faults.push('the problem tells of the inside of the service');
  if (headers['x-content-type-options'] !== 'nosniff')
    faults.push('header X-Content-Type-Options is missing');
  if (headers['x-powered-by'] !== undefined) faults.push('header X-Powered-By is there');
  // Refused before it has an operation: checked as a problem like any other.
  const isUnparsed = status === 431 || text.includes('"http_malformed"');
  return [...faults, ...(isUnparsed ? [] : faultsOf(answer))];
}

/** Whether a refusal is one that the document tells in words. */
export function isBusinessRefusal(id: OperationId, { text }: Answer): boolean {
  const { codes = [], messages = [] } = businessRefusals[id];
  const problem: { code: string; errors?: { message: string }[] } = JSON.parse(text);
  // Keys are made like any text, so two requests may have the same; what that means, a chain of its own tests.
  if (problem.code === 'idempotency_key_reused') return true;
  if (codes.some((code) => code === problem.code)) return true;
  const told = problem.errors ?? [];
  return told.length > 0 && told.every(({ message }) => messages.some((pattern) => pattern.test(message)));
}
