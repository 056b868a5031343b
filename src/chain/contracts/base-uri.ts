import { hexlify, type JsonRpcApiProvider, keccak256, toBeHex, toUtf8String } from 'ethers';
import { isOwnCode } from './contract-check.ts';

// The slot of `_base` in our own contract, which has no function that returns it: behind the six fields of ERC721 and
// the roles.
const slot = 7n;
// A longer one is no address.
const longest = 2_048;

/** Where the metadata of a contract's tokens are served; the id of a token is added. */
export const metadataBase = (publicBaseUrl: string, chainId: string, contract: string): string =>
  `${publicBaseUrl}/v1/api/metadata/${chainId}/${contract}/`;

/**
 * Reads where a contract says that the metadata of its tokens are. Tokens have it too, but there may be none yet.
 * @returns undefined when the contract is not our own; empty when nothing was set
 * @throws NodesUnavailableError when no node answers
 */
export async function readBaseUri(
  provider: JsonRpcApiProvider,
  contract: string,
): Promise<string | undefined> {
  if (!isOwnCode(await provider.getCode(contract))) return undefined;
  // Solidity keeps a short text in its slot with its length, a long one from the hash of the slot on.
  const head = await provider.getStorage(contract, slot);
  const tail = BigInt(head) & 0xffn;
  if ((tail & 1n) === 0n) return toUtf8String(head.slice(0, 2 + Number(tail)));
  const length = Number((BigInt(head) - 1n) / 2n);
  if (length > longest) throw new Error(`the base address of ${contract} has ${length} bytes`);
  const first = BigInt(keccak256(toBeHex(slot, 32)));
  const places = Array.from({ length: Math.ceil(length / 32) }, (_, at) => first + BigInt(at));
  const words = await Promise.all(places.map((place) => provider.getStorage(contract, place)));
  const bytes = Buffer.concat(words.map((word) => Buffer.from(word.slice(2), 'hex')));
  return toUtf8String(hexlify(bytes.subarray(0, length)));
}
