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
  finality_unknown: {
    note: 'Nodes that agree on what is final are missing; minted NFTs are not called final until then.',
    remedy: 'See which nodes cannot be used: tallystick network status.',
  },
  nodes_disagree: {
    note: 'The nodes of the network show different chains; minting goes on when they agree.',
    remedy: 'Find out which node is wrong and remove it: tallystick network status, network update --rpc.',
  },
} as const satisfies Record<string, Reason>;

export type MintReason = keyof typeof mintReasons;
