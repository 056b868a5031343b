/**
 * Why a node does not accept a signed transaction:
 * - `known`: it already has this transaction;
 * - `nonce_used`: the nonce is used on the chain, by this transaction or another;
 * - `underpriced`: a transaction with the same nonce pays as much, or the fee is below the node's minimum;
 * - `no_funds`: the signer cannot pay for it;
 * - `refused`: this node never takes it, however often it is asked ({@link refusalOf} says why);
 * - `unknown`: anything else, which may pass.
 */
export type BroadcastFault = 'known' | 'nonce_used' | 'underpriced' | 'no_funds' | 'refused' | 'unknown';

/**
 * What a transaction has that a node never takes:
 * - `fee_cap`: gas limit times fee is more than the node forwards;
 * - `gas_limit`: its gas limit is above that of a block or of a transaction;
 * - `gas_too_low`: its gas limit does not cover its data;
 * - `too_large`: it has too many bytes;
 * - `type`: a type that the chain does not have;
 * - `tip_too_low`: a fee below the node's minimum;
 * - `invalid`: something that cannot be helped by another transaction with the same content.
 */
type RefusalKind = 'fee_cap' | 'gas_limit' | 'gas_too_low' | 'too_large' | 'type' | 'tip_too_low' | 'invalid';

export type Refusal = {
  readonly kind: RefusalKind;
  /** What the node takes at most, or at least, when it says so: in wei, or in gas. */
  readonly bound: bigint | undefined;
};

/** What a node, or several of them together, said to a transaction. */
export type BroadcastAnswer = {
  readonly outcome: 'sent' | BroadcastFault;
  /** The node's own words; empty when it took the transaction. */
  readonly words: string;
};

type Family = { readonly fault: BroadcastFault; readonly pattern: RegExp; readonly kind?: RefusalKind };

/*
 * Clients word these differently, as do versions of one client; the codes do not distinguish them. Each pattern names
 * the clients whose words it has. The first that matches counts: "fee cap" stands before "underpriced".
 */
const families: readonly Family[] = [
  // geth, Erigon, reth, Besu, Arbitrum; OpenEthereum, anvil; Nethermind; Substrate (Moonbeam).
  {
    fault: 'known',
    pattern:
      /already ?known|known transaction|already ?(been )?imported|already in (the )?(pool|mempool)|already exists|OwnNonceAlreadyUsed/i,
  },
  // geth, Erigon, reth, Besu; OpenEthereum; ethers; Arbitrum; Nethermind; Substrate.
  {
    fault: 'nonce_used',
    pattern:
      /nonce (is )?too low|nonce has already been used|invalid transaction nonce|old ?nonce|Pool\(Stale\)|already finalized/i,
  },
  // geth, Erigon and their forks name the currency of the chain; reth; Besu.
  {
    fault: 'refused',
    kind: 'fee_cap',
    pattern: /exceeds the configur(ed|ation) cap|fee cap exceeded|^fee too high/i,
  },
  // geth and reth since EIP-7825; geth, Erigon, Besu; OpenEthereum; Nethermind.
  {
    fault: 'refused',
    kind: 'gas_limit',
    pattern:
      /exceeds (the )?(block|maximum|max)[^;]*gas limit|gas limit[^;]*(too high|too large|exceeds|exceeded)|exceeds current gas limit|GasLimitExceeded|beyond limit|gas uint64 overflow|transaction exceeds maximum per-transaction gas/i,
  },
  // geth, Erigon, reth, anvil; Besu; OpenEthereum.
  {
    fault: 'refused',
    kind: 'gas_too_low',
    pattern: /intrinsic gas (is )?(too low|exceeds)|gas is too low|below intrinsic|floor data gas/i,
  },
  // geth, Erigon, reth; OpenEthereum; Nethermind.
  {
    fault: 'refused',
    kind: 'too_large',
    pattern: /oversized data|transaction is too big|MaxTxSizeExceeded|size exceed/i,
  },
  // geth, Erigon, reth; Nethermind; Besu.
  {
    fault: 'refused',
    kind: 'type',
    pattern:
      /transaction type[^;]*(not supported|invalid|unsupported)|(unsupported|invalid) transaction type|TxTypeNotSupported|NotSupportedTxType/i,
  },
  // Another attempt holds the nonce in the pool of the node: geth, Erigon, reth, Besu; Nethermind; OpenEthereum.
  { fault: 'underpriced', pattern: /replacement|ReplacementNotAllowed|another (tx|transaction) /i },
  // geth, BSC, Bor; Besu; OpenEthereum.
  {
    fault: 'underpriced',
    kind: 'tip_too_low',
    pattern: /underpriced|below configured minimum|minimal gas price/i,
  },
  // reth, geth; Nethermind; Arbitrum; Optimism, Metis.
  {
    fault: 'underpriced',
    pattern:
      /fee ?too ?low|gas price too low|max fee per gas less than|less than the current basefee|feecap|too cheap/i,
  },
  // geth, Erigon, reth, Arbitrum, anvil; Besu; OpenEthereum, Hardhat; Nethermind.
  {
    fault: 'no_funds',
    pattern:
      /(insufficient|not enough) ?(funds|balance)|exceeds (the )?(account )?balance|doesn't have enough funds/i,
  },
  // geth, Erigon, reth, Besu, OpenEthereum; Nethermind; Harmony.
  {
    fault: 'refused',
    kind: 'invalid',
    pattern:
      /invalid (sender|signature|chain id|rlp|message format)|negative value|wrong chain|only replay-protected|SenderIsContract|FailedToResolveSender|Int256Overflow|(forbidden|banned|blacklist|not permitted)|tip[^;]*higher than|priority fee[^;]*(exceeds|higher than|above) max/i,
  },
];

const familyOf = (message: string): Family | undefined =>
  families.find(({ pattern }) => pattern.test(message));

/** @param message of the error with which the node answered */
export function broadcastFault(message: string): BroadcastFault {
  return familyOf(message)?.fault ?? 'unknown';
}

/** What the node never takes about a transaction; undefined when its message does not say so. */
export function refusalOf(message: string): Refusal | undefined {
  const kind = familyOf(message)?.kind;
  return kind && { kind, bound: boundOf(kind, message) };
}

// Bounds as clients write them. geth rounds its cap to two places and names the currency of the chain.
const bounds: Partial<Record<RefusalKind, RegExp>> = {
  fee_cap: /cap \((?<amount>\d+(?:\.\d+)?) ?(?<unit>\w+)?\)/i,
  gas_limit: /(?:cap|limit of|maximum|gas limit): ?(?<amount>\d+)|limit of (?<other>\d+)/i,
  tip_too_low: /(?:minimum needed|minimal:?) (?<amount>\d+)/i,
};

function boundOf(kind: RefusalKind, message: string): bigint | undefined {
  const found = bounds[kind]?.exec(message)?.groups;
  const amount = found?.['amount'] ?? found?.['other'];
  if (amount === undefined) return undefined;
  if (kind !== 'fee_cap') return /^\d+$/.test(amount) ? BigInt(amount) : undefined;
  const decimals = { wei: 0, gwei: 9 }[(found?.['unit'] ?? '').toLowerCase()] ?? 18;
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

// From the one that says most to the one that says least of what becomes of the transaction.
const order: readonly BroadcastAnswer['outcome'][] = [
  'sent',
  'known',
  'nonce_used',
  'underpriced',
  'unknown',
  'no_funds',
  'refused',
];

/**
 * What several nodes together said: a transaction is refused only when every node that answered refuses it for good.
 * @param answers of at least one node
 */
export function judgeBroadcast(answers: readonly BroadcastAnswer[]): BroadcastAnswer {
  const [best] = answers.toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome));
  return best ?? { outcome: 'unknown', words: '' };
}
