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
  broadcast_refused: {
    note: 'The nodes of the network refuse the transaction of this mint; it is made to fit.',
    remedy: 'Raise what the nodes take, such as --rpc.txfeecap of geth, or wait for lower prices.',
  },
  nonce_gap: {
    note: 'A nonce before those of the operator is not used yet; minting goes on when it is.',
    remedy: 'Wait for the transaction that fills it, or find out who else uses the key of the signer.',
  },
} as const satisfies Record<string, Reason>;

export type MintReason = keyof typeof mintReasons;
