/**
 * What a node means when it does not take a signed transaction:
 * - `known`: it has the very same already;
 * - `nonce_used`: its nonce is on the chain, by this transaction or another;
 * - `underpriced`: another with this nonce pays as much, or the fee is below what the node takes;
 * - `no_funds`: the signer cannot pay for it;
 * - `refused`: anything else.
 */
export type BroadcastFault = 'known' | 'nonce_used' | 'underpriced' | 'no_funds' | 'refused';

// Clients word these differently, and so do versions of one client; codes are of no help.
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
