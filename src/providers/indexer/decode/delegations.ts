import { verifyAuthorization } from 'ethers';
import { zeroAddress } from '../../../chain/address.ts';
import type { Delegation } from './domain.ts';
import { addressOfWord, type Fields, fieldsOf, MalformedBlockError, quantityOf } from './hex.ts';
import type { RawTransaction } from './raw-block.ts';
import type { Steps } from './turns.ts';

/** A delegation that an account signed. Only the state shows whether the network applied or ignored it. */
export type Authorization = Delegation & {
  readonly transaction: string;
  /** The account's nonce at which it applies. */
  readonly nonce: bigint;
};

/**
 * EIP-7702: returns what the lists of the transactions authorize, in the order of the block. The signature shows the
 * account. Entries that the network ignores are left out as far as they show it. They are for another network, have an
 * unusable signature, or are of the sender with a nonce that is not its next.
 */
export function* authorizationsOf(transactions: readonly RawTransaction[]): Steps<Authorization[]> {
  const found: Authorization[] = [];
  for (const { hash, from, nonce, authorizations = [], chainId: network } of transactions) {
    for (const value of authorizations) {
      // A signature takes 1 to 2 ms, and a block of 60 million gas has room for 2,400.
      yield;
      const read = readEntry(value);
      if (read === undefined) continue;
      const { chainId, ...authorization } = read;
      if (chainId !== 0n && network !== undefined && chainId !== network) continue;
      if (authorization.authority === from && nonce !== null && authorization.nonce !== nonce + 1n) continue;
      found.push({ ...authorization, transaction: hash });
    }
  }
  return found;
}

/** The state of an account around a block. Undefined is what no node reports. */
export type AccountState = {
  /** The nonce before the block. */
  readonly nonce: bigint | undefined;
  /** The code after the block. */
  readonly code: string | undefined;
};

const delegatedCode = '0xef0100';

/**
 * Returns the authorizations of one account that the network applied. Each needs a nonce that is not used up, and the
 * last is the delegate in the account's code after the block. An old authorization that somebody copied from the
 * chain has neither.
 * @param all of the account, in the order of the block
 */
export function appliedOf(
  all: readonly Authorization[],
  { nonce, code }: AccountState,
): readonly Authorization[] {
  let next = nonce ?? 0n;
  // The code of a delegate can raise the nonce too.
  const steps = all.filter((authorization) => {
    const isOpen = authorization.nonce >= next;
    if (isOpen) next = authorization.nonce + 1n;
    return isOpen;
  });
  const isShown = ({ delegate }: Authorization) =>
    delegate === zeroAddress
      ? code === '0x' && nonce !== undefined
      : code?.toLowerCase() === `${delegatedCode}${delegate.slice(2)}`;
  return steps.slice(0, steps.findLastIndex(isShown) + 1);
}

function readEntry(value: unknown) {
  try {
    const fields = fieldsOf(value, 'authorization');
    // Most nodes write flat fields; some nest the signature and name fields with underscores.
    const signature = fields['signature'] === undefined ? fields : fieldsOf(fields['signature'], 'signature');
    const delegate = addressOfWord(fields['address'], 'authorization address');
    const chainId = numberOf(fields['chainId'] ?? fields['chain_id']);
    const nonce = numberOf(fields['nonce']);
    const authority = verifyAuthorization(
      { address: delegate, chainId, nonce },
      { r: word(signature, 'r'), s: word(signature, 's'), yParity: parityOf(signature) },
    );
    return { authority: authority.toLowerCase(), delegate, chainId, nonce };
  } catch {
    // Anybody may put anything into the list. An unreadable entry sets nothing.
    return undefined;
  }
}

function numberOf(value: unknown): bigint {
  return typeof value === 'number' ? BigInt(value) : quantityOf(value, 'authorization');
}

function word(signature: Fields, name: string): string {
  return `0x${quantityOf(signature[name], name).toString(16).padStart(64, '0')}`;
}

function parityOf(signature: Fields): 0 | 1 {
  const value = signature['yParity'] ?? signature['odd_y_parity'] ?? signature['v'];
  const parity = typeof value === 'boolean' ? BigInt(value) : numberOf(value);
  if (parity === 0n) return 0;
  if (parity === 1n) return 1;
  throw new MalformedBlockError('yParity', value);
}
