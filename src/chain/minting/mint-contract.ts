import { getAddress, Interface, ZeroHash } from 'ethers';

/** One token to be minted. */
export type Mint = {
  /** EIP-55. */
  readonly recipient: string;
  /** Decimal. */
  readonly tokenId: string;
};

/** The interface that a contract must have for us to mint on it. `mintBatch` must skip ids that exist. */
const abi = new Interface([
  'function mintBatch(address[] to, uint256[] ids)',
  'function ownerOf(uint256 id) view returns (address)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
]);
const transferTopic = abi.getEvent('Transfer')?.topicHash ?? '';

const mintSelector = abi.getFunction('mintBatch')?.selector ?? '';
const word = (value: bigint | number) => value.toString(16).padStart(64, '0');

/**
 * The data of a call that mints. Encoded by hand: ethers recomputes the checksum of every address, which blocks the
 * process for some ten milliseconds in a full batch.
 */
export function encodeMintBatch(mints: readonly Mint[]): string {
  const length = word(mints.length);
  const recipients = mints.map(({ recipient }) => recipient.slice(2).toLowerCase().padStart(64, '0'));
  const ids = mints.map(({ tokenId }) => word(BigInt(tokenId)));
  // Two offsets, then each array after its length.
  const offsets = [word(64), word(64 + 32 + 32 * mints.length)];
  return [mintSelector, ...offsets, length, ...recipients, length, ...ids].join('');
}

/** Whether the data of a transaction is a call of `mintBatch`. */
export const isMintCall = (data: string): boolean => data.startsWith(mintSelector);

export const encodeOwnerOf = (tokenId: string): string => abi.encodeFunctionData('ownerOf', [tokenId]);

/** The topics of the mint events of these tokens. */
export function mintTopics(tokenIds: readonly string[]): (string | readonly string[] | null)[] {
  return [transferTopic, ZeroHash, null, tokenIds.map((tokenId) => `0x${word(BigInt(tokenId))}`)];
}

export type MintLog = { readonly address: string; readonly topics: readonly string[] };

/** The token that an event of this contract minted; undefined for any other event. */
export function readMintLog({ address, topics }: MintLog, contract: string): Mint | undefined {
  const [topic, from, to, id] = topics;
  if (address.toLowerCase() !== contract.toLowerCase() || topics.length !== 4) return undefined;
  if (topic !== transferTopic || from !== ZeroHash || to === undefined || id === undefined) return undefined;
  return { recipient: getAddress(`0x${to.slice(-40)}`), tokenId: BigInt(id).toString() };
}
