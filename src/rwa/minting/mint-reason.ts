type Reason = {
  /** What a company reads. */
  readonly note: string;
  /** What an operator can do; it begins with a verb. */
  readonly remedy: string;
  /** A lane that pauses for it needs no help: the process is ready all the same. */
  readonly isNormal?: true;
};

/**
 * Why a mint that was accepted does not move: reasons of a whole lane, and of a single NFT. Each names what can be
 * done about it. A reason ends by itself when its cause is gone.
 */
export const mintReasons = {
  operator: {
    note: 'Minting is stopped by the operator.',
    remedy: 'Resume it: tallystick mint resume.',
    isNormal: true,
  },
  fee_above_cap: {
    note: 'Gas costs more than the operator pays at present.',
    remedy: 'Wait for lower prices, or raise MINT_MAX_FEE_GWEI.',
    isNormal: true,
  },
  balance_too_low: {
    note: 'The operator has too little money for gas.',
    remedy: 'Send funds to the signer.',
  },
  foreign_nonce: {
    note: 'The key of the operator was used by somebody else; minting goes on when that is final.',
    remedy:
      'Find out who else uses the key of the signer, and wait until that is final. Where WHY says why it is not, repair the nodes or name others: tallystick network update <chainId> --rpc <url>.',
  },
  contract_refuses: {
    note: 'The NFT contract rejects mints.',
    remedy:
      'Let the signer mint: tallystick contract grant. If its transactions mint nothing, find out why on the chain: one in an hour is sent, and minting goes on with the first that mints. To send it at once: tallystick mint resume --contract <address>.',
  },
  contract_unanswered: {
    note: 'The blockchain does not say at present what a mint of the NFT contract would do; it is asked again.',
    remedy:
      'Find out why the nodes do not answer eth_estimateGas for the contract, or name others: tallystick network update <chainId> --rpc <url>.',
  },
  contract_nonsense: {
    note: 'The NFT contract does not answer as one; what became of the mint cannot be proven.',
    remedy:
      "Check the contract's address and code: it must be an ERC-721 contract on this network. Once it answers: tallystick mint release <nftId>.",
  },
  evidence_unavailable: {
    note: 'What became of the mint cannot be read from the network at present.',
    remedy:
      "Check the network's nodes, or give another one: tallystick network update --rpc; only for this proof: tallystick mint release <nftId> --rpc <url>.",
  },
  history_searched: {
    note: "The network's history is being searched, before the mint goes on.",
    remedy: 'Wait, or give a node that answers for more blocks at once: tallystick network update --rpc.',
    isNormal: true,
  },
  history_unavailable: {
    note: "A part of the network's history that may show the mint is not available at present.",
    remedy:
      'Give a node that keeps the history of these blocks: tallystick network update --rpc; only for this proof: tallystick mint release <nftId> --rpc <url>.',
  },
  broadcast_refused: {
    note: 'The nodes of the network reject the transaction of this mint; it is sent again.',
    remedy:
      'Read the words of the nodes in WHY. If they want a higher tip, set the least one: tallystick network update <chainId> --min-tip <gwei>. If they are full, limited or broken, wait or name others (--rpc). If they reject one NFT: tallystick mint release <nftId>.',
  },
  left_out: {
    note: 'The mint was taken out of its transaction; when that is settled, a new transaction mints it.',
    remedy: 'Wait until the nonce of its transaction is final: tallystick mint show <nftId>.',
    isNormal: true,
  },
  nonce_gap: {
    note: 'An earlier transaction of the operator is missing on the network; minting goes on when it is there.',
    remedy:
      'Wait: it is filled once it has been there for MINT_STUCK_BLOCKS. If the gap is too wide for that: tallystick mint fill-gap.',
  },
  finality_unknown: {
    note: 'Too few nodes of the network agree on what is final; until then no mint counts as final.',
    remedy:
      'Fix or replace the nodes that it names: tallystick network update <chainId> --rpc <url>; or let fewer agree: RPC_FINALITY_NODES.',
  },
  chain_rolled_back: {
    note: 'The network lacks a block that was final; the operator must find out why.',
    remedy:
      'Find out whether the network was rolled back or the node is of another chain: tallystick network status. If it is for good, send again what was lost: tallystick recover --chain <id> --apply.',
  },
  nodes_disagree: {
    note: 'The nodes of the network show different chains; minting goes on when they agree.',
    remedy: 'Find out which node is wrong and remove it: tallystick network status, network update --rpc.',
  },
  recovery_needed: {
    note: 'Minting waits until the operator has recovered the database.',
    remedy:
      'Rebuild the rows from the chain: tallystick recover, then tallystick recover --apply. Where WHY names another installation, give each a signer of its own first.',
  },
  database_went_back: {
    note: 'Minting is stopped until the operator has checked the database.',
    remedy:
      'The database was restored or promoted. Recover what it lacks: tallystick recover --apply. Then restart the workers.',
  },
  no_signer: {
    note: 'The operator has no key for this network at present.',
    remedy: 'Put the signer into MINT_SIGNERS again; what it has sent is watched meanwhile.',
  },
  signer_unavailable: {
    note: 'The key of the operator cannot be used at present; minting goes on when it can.',
    remedy:
      'Find out why the key does not sign: the way to AWS KMS, the credentials of the worker, and their right to kms:Sign. What is sent is watched meanwhile.',
  },
  no_worker: {
    note: 'Nothing works on mints of this network at present.',
    remedy: 'Start a process with the role worker that has the signer in MINT_SIGNERS.',
  },
  nodes_unavailable: {
    note: 'The blockchain cannot be asked at present; minting goes on when it can.',
    remedy: 'Fix the nodes, or name others: tallystick network update <chainId> --rpc <url>.',
  },
  no_new_blocks: {
    note: 'The network shows no new block at present; minting goes on when it does.',
    remedy:
      'Find out whether the network makes blocks: tallystick network status. If it does, name a node that shows them: tallystick network update <chainId> --rpc <url>.',
  },
  unexplained: {
    note: 'The mint takes longer than it should; the operator gets a report.',
    remedy: 'Read its attempts: tallystick mint show <nftId>. Then report it with the log of the worker.',
  },
} as const satisfies Record<string, Reason>;

export type MintReason = keyof typeof mintReasons;

const catalogue: Readonly<Record<string, Reason>> = mintReasons;

/** A reason in the words for companies. A newer release may have stored one that this release does not know. */
export const publicNote = (reason: string): string => (catalogue[reason] ?? mintReasons.unexplained).note;

/** Returns the fault of a signer whose network nobody has registered, and its remedy for an operator. */
export const notRegistered = (chainId: string): string =>
  `network ${chainId} is not registered: tallystick network add ${chainId}`;

/** What an operator can do about a reason. */
export const remedyOf = (reason: string): string => (catalogue[reason] ?? mintReasons.unexplained).remedy;

/** Whether somebody has to do something about a lane that pauses for this reason. */
export const needsHelp = (reason: string): boolean => catalogue[reason]?.isNormal !== true;
