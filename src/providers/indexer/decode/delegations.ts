import { verifyAuthorization } from 'ethers';
import type { Delegation } from './domain.ts';
import { addressOfWord, type Fields, fieldsOf, MalformedBlockError, quantityOf } from './hex.ts';
import type { RawTransaction } from './raw-block.ts';
import type { Steps } from './turns.ts';

/**
 * EIP-7702: returns the accounts whose delegation the transaction sets, also when its call fails. The signature shows
 * the account. Authorizations that the network ignores are left out as far as they show it. They are for another
 * network, have an unusable signature, or are of the sender with a nonce that is not its next. The nonce of another
 * account is not checked, because only the state has it.
 */
export function* delegationsOf({
  authorizations = [],
  chainId,
  from,
  nonce,
}: RawTransaction): Steps<Delegation[]> {
  const delegations: Delegation[] = [];
  for (const value of authorizations) {
    // A signature takes 1 to 2 ms, and a block of 60 million gas has room for 2,400.
    yield;
    const found = read(value);
    if (found === undefined) continue;
    if (found.chainId !== 0n && chainId !== undefined && found.chainId !== chainId) continue;
    if (found.authority === from && found.nonce !== nonce + 1n) continue;
    delegations.push({ authority: found.authority, delegate: found.delegate });
  }
  return delegations;
}

function read(value: unknown) {
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
