/**
 * Why a node does not accept a signed transaction:
 * - `known`: it already has this transaction;
 * - `nonce_used`: the nonce is used on the chain, by this transaction or another;
 * - `underpriced`: a transaction with the same nonce pays as much, or the fee is below the node's minimum;
 * - `no_funds`: the signer cannot pay for it;
 * - `refused`: anything else.
 */
export type BroadcastFault = 'known' | 'nonce_used' | 'underpriced' | 'no_funds' | 'refused';

// Clients word these differently, as do versions of one client; the codes do not distinguish them.
const families: readonly (readonly [BroadcastFault, RegExp])[] = [
  [
    'known',
    /already known|known transaction|already imported|already in (the )?(pool|mempool)|already exists/i,
  ],
  ['nonce_used', /nonce (is )?too low|nonce has already been used|invalid transaction nonce|old nonce/i],
  ['underpriced', /underpriced|fee too low|gas price too low|max fee per gas less than|feecap|too cheap/i],
  ['no_funds', /insufficient (funds|balance)|exceeds (the )?balance|doesn't have enough funds/i],
];

/** @param message of the error with which the node answered ({@link nodeMessage}) */
export function broadcastFault(message: string): BroadcastFault {
  return families.find(([, pattern]) => pattern.test(message))?.[0] ?? 'refused';
}
