import { getAddress, Interface, ZeroHash } from 'ethers';
import artefact from '../contracts/artefacts/TallystickNft.json' with { type: 'json' };

/** One token to be minted. */
export type Mint = {
  /** EIP-55. */
  readonly recipient: string;
  /** Decimal. */
  readonly tokenId: string;
};

/** Tokens whose metadata changed: ids from the first to the last, both decimal. */
export type TokenIdRange = { readonly from: string; readonly to: string };

/** All tokens of a contract. */
export const allTokens: TokenIdRange = { from: '0', to: (2n ** 256n - 1n).toString() };

/**
 * The interface that a contract must have for us to mint on it. `mintBatch` must skip ids that exist. A contract may lack
 * `refreshMetadata`, or not let us call it.
 */
const abi = new Interface([
  'function mintBatch(address[] to, uint256[] ids)',
  'function refreshMetadata(uint256 fromId, uint256 toId)',
  'function ownerOf(uint256 id) view returns (address)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
]);
export const transferTopic = abi.getEvent('Transfer')?.topicHash ?? '';

const mintSelector = abi.getFunction('mintBatch')?.selector ?? '';
const refreshSelector = abi.getFunction('refreshMetadata')?.selector ?? '';
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

/**
 * The tokens of a call that {@link encodeMintBatch} encoded.
 * @throws Error when the data is anything else
 */
export function decodeMintBatch(data: string): Mint[] {
  const words = data.slice(mintSelector.length).match(/.{64}/g) ?? [];
  const count = Number(BigInt(`0x${words[2] ?? '0'}`));
  const recipients = words.slice(3, 3 + count);
  const ids = words.slice(4 + count, 4 + 2 * count);
  const mints = recipients.map((recipient, index) => ({
    recipient: getAddress(`0x${recipient.slice(-40)}`),
    tokenId: BigInt(`0x${ids[index] ?? '0'}`).toString(),
  }));
  if (encodeMintBatch(mints) !== data.toLowerCase()) throw new Error('The data is no batch of mints.');
  return mints;
}

/** The data of a call that reports changed metadata to marketplaces (ERC-4906). */
export const encodeRefresh = ({ from, to }: TokenIdRange): string =>
  [refreshSelector, word(BigInt(from)), word(BigInt(to))].join('');

/** The tokens of a call that {@link encodeRefresh} encoded; undefined when the data is anything else. */
export function decodeRefresh(data: string): TokenIdRange | undefined {
  const [from, to] = data.slice(refreshSelector.length).match(/.{64}/g) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const range = { from: BigInt(`0x${from}`).toString(), to: BigInt(`0x${to}`).toString() };
  return encodeRefresh(range) === data.toLowerCase() ? range : undefined;
}

export const encodeOwnerOf = (tokenId: string): string => abi.encodeFunctionData('ownerOf', [tokenId]);

/** The topics of the mint events of these tokens; of all when none are named. */
export function mintTopics(tokenIds?: readonly string[]): (string | readonly string[] | null)[] {
  const ids = tokenIds?.map((tokenId) => `0x${word(BigInt(tokenId))}`);
  return [transferTopic, ZeroHash, null, ...(ids ? [ids] : [])];
}

/** The errors of our own contract. Others have some of them, too. */
const errors = new Interface(artefact.abi.filter((fragment) => fragment.startsWith('error ')));

/**
 * The error that the data of a revert name, with its values; undefined when our contract has none like it. Any contract decides
 * what the data are: none, or less than the error has.
 */
export function readRevert(data: string): string | undefined {
  try {
    const found = errors.parseError(data);
    // `Error` and `Panic` are of the language: ethers has words for them.
    if (found === null || found.name === 'Error' || found.name === 'Panic') return undefined;
    const values = found.fragment.inputs.map(({ name }, index) => `${name} ${found.args[index]}`);
    return `${found.name}(${values.join(', ')})`;
  } catch {
    return undefined;
  }
}

export type MintLog = { readonly address: string; readonly topics: readonly string[] };

/** The token that an event of this contract minted; undefined for any other event. */
export function readMintLog({ address, topics }: MintLog, contract: string): Mint | undefined {
  const [topic, from, to, id] = topics;
  if (address.toLowerCase() !== contract.toLowerCase() || topics.length !== 4) return undefined;
  if (topic !== transferTopic || from !== ZeroHash || to === undefined || id === undefined) return undefined;
  return { recipient: getAddress(`0x${to.slice(-40)}`), tokenId: BigInt(id).toString() };
}
