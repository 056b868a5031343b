type Reason = {
  /** What a company is told. */
  readonly note: string;
  /** What an operator can do; it begins with a verb. */
  readonly remedy: string;
};

/**
 * Why a mint that was accepted does not move: reasons of a whole lane, and of a single NFT. Each names what can be
 * done about it. A reason ends by itself when its cause is gone.
 */
export const mintReasons = {
  operator: {
    note: 'Minting is stopped by the operator.',
    remedy: 'Resume it: tallystick mint resume.',
  },
  fee_above_cap: {
    note: 'Gas costs more than the operator pays at present.',
    remedy: 'Wait for lower prices, or raise MINT_MAX_FEE_GWEI.',
  },
  balance_too_low: {
    note: 'The operator has too little money for gas.',
    remedy: 'Send funds to the signer.',
  },
  foreign_nonce: {
    note: 'The key of the operator was used by somebody else; minting goes on when that is final.',
    remedy: 'Find out who else uses the key of the signer.',
  },
  contract_refuses: {
    note: 'The NFT contract refuses mints.',
    remedy: 'Let the signer mint: tallystick contract grant.',
  },
  contract_nonsense: {
    note: 'The NFT contract does not answer as one; what became of the mint cannot be proven.',
    remedy: "Check the contract's address and code: it must be an ERC-721 contract on this network.",
  },
  evidence_unavailable: {
    note: 'What became of the mint cannot be read from the network at present.',
    remedy: "Check the network's nodes, or give another one: tallystick network.",
  },
  history_searched: {
    note: "The network's history is being searched for the mint.",
    remedy: 'Wait, or give a node that answers for more blocks at once: tallystick network.',
  },
  history_unavailable: {
    note: "A part of the network's history that may show the mint is not available at present.",
    remedy: 'Give a node that keeps the history of these blocks: tallystick network.',
  },
  token_exists: {
    note: 'The token exists on the NFT contract already; the operator must decide what becomes of this NFT.',
    remedy: 'Find out who minted the token: a restored database or a second deployment gives serials again.',
  },
} as const satisfies Record<string, Reason>;

export type MintReason = keyof typeof mintReasons;
