import type { MintEvent } from '../../../chain/minting/evidence-node.ts';
import type { MintState } from '../../assets/nft-row.ts';
import { isCountedNumber } from '../../assets/token-id.ts';

/*
 * What a mint on the chain and the rows of its token say of each other. Nothing here reads or writes anything.
 */

/** The asset that a token id names, and the NFT that has the id; null where there is none. */
export type TokenRow = {
  readonly tokenId: string;
  readonly rwa: TokenRwa | null;
  readonly nft: TokenNft | null;
};

type TokenRwa = {
  readonly id: string;
  readonly number: bigint;
  /** The block that was final when it was made; 0 where none was known. */
  readonly finalBlock: bigint;
};

type TokenNft = {
  readonly id: string;
  readonly state: MintState;
  readonly recipient: string | null;
  readonly mintedTx: string | null;
  readonly mintedBlock: string | null;
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
  /** A signer of ours minted it, and its number belongs to no asset, or to a lost asset. */
  | 'unknown_asset'
  /** Somebody else minted an id of ours that nobody has asked for. */
  | 'foreign'
  | 'two_rows';

/** The further facts of a token whose rows do not simply agree. */
export type TokenFacts = {
  /** Of the block of its mint. */
  readonly time: Date;
  /** The account that sent the transaction, in EIP-55; null when the node does not know it, and the transaction is stored as ours. */
  readonly sender: string | null;
  /** Whether a signer of ours sent the transaction. */
  readonly isOwn: boolean;
  /** Whether the transaction is stored as one of ours. */
  readonly isStored: boolean;
  /**
   * Whether it is not, though its signer has a stored transaction of the same nonce or a later nonce: others have the
   * key, too.
   */
  readonly isOfOthers: boolean;
};

/** Whether the rows of a token say what its mint says, so that nothing else needs to be known. */
export function agrees(event: MintEvent, rows: readonly TokenRow[]): boolean {
  const [row, ...others] = rows;
  const nft = row?.nft;
  if (!nft || others.length > 0) return false;
  return isSameMint(event, nft) && isSameRecipient(event, nft);
}

/**
 * Judges a mint by identity: an NFT is minted when its id went to its recipient, from any sender. The sender decides
 * about tokens that nobody has asked for according to the rows.
 * @returns undefined when the rows agree, or when the token is none of ours
 */
export function judgeToken(
  event: MintEvent,
  rows: readonly TokenRow[],
  facts: TokenFacts,
): DisagreementKind | undefined {
  if (rows.length > 1) return 'two_rows';
  const { isOwn } = facts;
  const { rwa = null, nft = null } = rows[0] ?? {};
  if (nft !== null && isAskedFor(nft)) return judgeNft(event, nft);
  if (nft !== null) return isOwn ? 'not_recorded' : 'foreign';
  if (facts.isStored) return 'extra_token';
  if (rwa === null || isOfLostAsset(event, rwa, facts)) return isOwn ? 'unknown_asset' : undefined;
  return isOwn ? 'no_row' : 'foreign';
}

const isAskedFor = ({ recipient, state }: TokenNft) => recipient !== null || state === 'minted';

/** Whether another asset had the number of this asset before, or has it elsewhere. */
const isOfLostAsset = (event: MintEvent, { finalBlock, number }: TokenRwa, { isOfOthers }: TokenFacts) =>
  isCountedNumber(number) && (isOfOthers || event.blockNumber <= finalBlock);

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
  unknown_asset: 'a signer of ours minted the token, and no asset has its number, or only since then',
  foreign: 'somebody else minted an id of ours that nobody has asked for',
  two_rows: 'two NFTs have the id of the token',
};

/** A disagreement in words. */
export function describeDisagreement(kind: DisagreementKind, event?: MintEvent, facts?: TokenFacts): string {
  const place = event && ` (to ${event.recipient} in block ${event.blockNumber}, transaction ${event.hash})`;
  return `${meanings[kind]}${place ?? ''}${facts === undefined ? '' : aboutSender(kind, facts)}`;
}

function aboutSender(kind: DisagreementKind, { isOfOthers, sender }: TokenFacts): string {
  if (isOfOthers && (kind === 'no_row' || kind === 'unknown_asset'))
    return `. Another installation mints with ${sender}, or its key was stolen: it was sent between transactions of this one. Give each installation a signer of its own`;
  if (kind !== 'foreign' || sender === null) return '';
  return `. ${sender} sent it: if that was a signer of yours, run tallystick recover --apply --signer ${sender}`;
}
