import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import type { MintState } from '../../assets/nft-row.ts';

/*
 * What a mint on the chain and the rows of its token say of each other. Nothing here reads or writes anything.
 */

/** The asset that a token id names, and the NFT that has the id; null where there is none. */
export type TokenRow = {
  readonly tokenId: string;
  readonly rwa: { readonly id: string; readonly companyId: string; readonly createdAt: Date } | null;
  readonly nft: TokenNft | null;
};

type TokenNft = {
  readonly id: string;
  readonly state: MintState;
  readonly recipient: string | null;
  readonly mintedTx: string | null;
  readonly mintedBlock: string | null;
  readonly mintedAt: Date | null;
  readonly createdAt: Date;
};

export type DisagreementKind =
  /** A row says minted, and the token does not exist. */
  | 'no_token'
  /** The token exists, and its row does not say so. */
  | 'not_recorded'
  /** The row names another transaction or block. */
  | 'other_transaction'
  /** The row names another recipient. */
  | 'other_recipient'
  /** A transaction that is stored as ours minted it, and no NFT has its id: the contract mints what nobody asked for. */
  | 'extra_token'
  /** A signer of ours minted it, and no NFT has its id. */
  | 'no_row'
  /** A signer of ours minted it, and no asset of that time has its number. */
  | 'unknown_asset'
  /** Somebody else minted an id of ours that no NFT has. */
  | 'foreign'
  | 'two_rows';

/** What else must be known of a token whose rows do not simply agree. */
export type TokenFacts = {
  /** Of the block of its mint. */
  readonly time: Date;
  /** Whether a signer of ours sent the transaction. */
  readonly isOwn: boolean;
  /** Whether the transaction is stored as one of ours. */
  readonly isStored: boolean;
};

/**
 * How far the clock of a chain may be behind that of the database: a block has the time at which its slot began, and
 * may take a transaction of some seconds later; on Ethereum five slots last so long.
 */
export const clockToleranceMs = 60_000;

/**
 * Whether a mint was made for somebody else, before a row with its id was there. Clocks may step by any time, so a mint
 * in a transaction that is stored as ours is ours, whatever the times say.
 */
export const isBefore = (minted: { readonly time: Date; readonly isStored: boolean }, created: Date) =>
  !minted.isStored && minted.time.getTime() < created.getTime() - clockToleranceMs;

/** Whether the rows of a token say what its mint says, so that nothing else needs to be known. */
export function agrees(event: MintEvent, rows: readonly TokenRow[]): boolean {
  const [row, ...others] = rows;
  const nft = row?.nft;
  if (!nft || others.length > 0) return false;
  return isSameMint(event, nft) && isSameRecipient(event, nft);
}

/** @returns undefined when the rows agree, or when the token is none of ours */
export function judgeToken(
  event: MintEvent,
  rows: readonly TokenRow[],
  facts: TokenFacts,
): DisagreementKind | undefined {
  if (rows.length > 1) return 'two_rows';
  const { isOwn } = facts;
  const { rwa = null, nft = null } = rows[0] ?? {};
  if (nft !== null) return judgeNft(event, nft);
  if (facts.isStored) return 'extra_token';
  if (rwa === null || isBefore(facts, rwa.createdAt)) return isOwn ? 'unknown_asset' : undefined;
  return isOwn ? 'no_row' : 'foreign';
}

function judgeNft(event: MintEvent, nft: TokenNft): DisagreementKind | undefined {
  if (nft.recipient !== null && !isSameRecipient(event, nft)) {
    return nft.state === 'failed' ? undefined : 'other_recipient';
  }
  if (nft.state !== 'minted') return 'not_recorded';
  return isSameMint(event, nft) ? undefined : 'other_transaction';
}

const isSameMint = (event: MintEvent, nft: TokenNft) =>
  nft.state === 'minted' &&
  nft.mintedTx?.toLowerCase() === event.hash.toLowerCase() &&
  nft.mintedBlock === event.blockNumber.toString();

const isSameRecipient = (event: MintEvent, nft: TokenNft) =>
  nft.recipient?.toLowerCase() === event.recipient.toLowerCase();

const meanings: Readonly<Record<DisagreementKind, string>> = {
  no_token: 'the row says minted, and the chain has no such token',
  not_recorded: 'the chain has the token, and the row does not say minted',
  other_transaction: 'the token was minted by another transaction, or in another block, than the row says',
  other_recipient: 'the token was minted to another recipient than the row says',
  extra_token: 'the contract minted a token more than a transaction of ours asked for',
  no_row: 'a signer of ours minted the token, and no NFT has its id',
  unknown_asset: 'a signer of ours minted the token, and no asset had its number then',
  foreign: 'somebody else minted an id of ours that no NFT has',
  two_rows: 'two NFTs have the id of the token',
};

/** A disagreement in words. */
export function describeDisagreement(kind: DisagreementKind, event?: MintEvent): string {
  const place = event && ` (to ${event.recipient} in block ${event.blockNumber}, transaction ${event.hash})`;
  return `${meanings[kind]}${place ?? ''}`;
}
