import { checksumAddress } from '../../chain/address.ts';
import { isChainId } from '../../chain/rpc/client/network.ts';

/** What an entry of an event's lists names. */
export type Entry =
  | {
      readonly kind: 'contract';
      /** Decimal. */
      readonly chainId: string;
      /** EIP-55. */
      readonly contract: string;
      /** Decimal, without leading zeros. */
      readonly tokenId: string | null;
    }
  | { readonly kind: 'rwa'; readonly id: string }
  | { readonly kind: 'other'; readonly reason: string };

const contractForm = /^(?:eip155:(\d+):)?(0x[0-9a-fA-F]{40})(?:\/(\d{1,78}))?$/;
const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Why an entry names nothing. */
export const noEntry = 'The entry is no contract address, CAIP-10 id or id of an RWA of your company.';

/**
 * Parses an entry: a contract address, or a CAIP-10 id, either with `/<tokenId>`, or the id of an RWA.
 * @param chainId the network of the event, for entries that name none
 */
export function parseEntry(text: string, chainId: string | null): Entry {
  if (idForm.test(text)) return { kind: 'rwa', id: text.toLowerCase() };
  const [, named, address = '', digits] = contractForm.exec(text) ?? [];
  if (address === '') return { kind: 'other', reason: noEntry };
  const contract = checksumAddress(address);
  if (contract === undefined)
    return { kind: 'other', reason: 'The address of the entry has a wrong EIP-55 checksum.' };
  const network = named ?? chainId;
  if (network === null)
    return { kind: 'other', reason: 'The entry names no network, and the event has no chainId.' };
  if (!isChainId(network)) return { kind: 'other', reason: 'The chain id of the entry is none.' };
  const tokenId = digits === undefined ? null : BigInt(digits);
  if (tokenId !== null && tokenId >= 2n ** 256n)
    return { kind: 'other', reason: 'The token id of the entry is above 256 bits.' };
  return { kind: 'contract', chainId: network, contract, tokenId: tokenId?.toString() ?? null };
}
