import type {
  Approval,
  Erc20Movement,
  IndexedTransaction,
  NativeMovement,
  NftMovement,
} from '../decode/domain.ts';

/**
 * The JSON of a history row: the transaction, which is the same for all of its wallets, and the movements of this
 * wallet. There are billions of rows, so numbers are decimal texts and records are arrays.
 */

/**
 * nonce, from, to, created, value, gas, gas price, gas used, fee, succeeded, selector, what is not known, who paid the
 * fee, what few transactions have
 */
type TransactionJson = [
  string,
  string,
  string | null,
  string | null,
  string,
  string,
  string,
  string,
  string,
  0 | 1,
  string | null,
  (Unknown | null)?,
  (string | null)?,
  RareJson?,
];

type RareJson = {
  /** The nonce is unknown and stored as 0. */
  readonly n?: 1;
  /** The same of the gas limit. */
  readonly g?: 1;
  /** The fee is unknown because of its blobs. */
  readonly b?: 1;
  /** The percentage of the fee that the other account paid. */
  readonly r?: number;
};

/**
 * `f`: the fee is unknown and stored as 0; `g`: the used gas too; `p`: the price and the fee. Most rows know all
 * values and have neither this entry nor another payer.
 */
type Unknown = 'f' | 'g' | 'p';

type MovesJson = {
  /** from, to, value, internal */
  readonly n?: [string, string, string, 0 | 1][];
  /** token, from, to, value, log index, kind: 1 wrap, 2 fee */
  readonly e?: [string, string, string, string, number, 0 | 1 | 2][];
  /** token, token id, amount, from, to, standard, operator, batch, log index, part */
  readonly t?: [string, string, string, string, string, 721 | 1155, string | null, 0 | 1, number, number][];
  /** token, spender, kind, value, granted, log index, whether the owner signed nothing */
  readonly a?: [string, string, Approval['kind'], string, 0 | 1, number, 1?][];
  /** Whether the wallet borrowed something. */
  readonly b?: 1;
  /**
   * Number of accounts that received the same amount of the same token from the same sender, where there are many. An
   * `s` of older rows counted accounts with any amount, and is not read.
   */
  readonly r?: number;
  /** The delegates that were set for the wallet. */
  readonly d?: string[];
};

/** The part of a transaction that every history row of it has. */
export type StoredTransaction = Omit<
  IndexedTransaction,
  | 'hash'
  | 'index'
  | 'native'
  | 'erc20'
  | 'nft'
  | 'approvals'
  | 'borrowers'
  | 'delegations'
  | 'internalCalls'
  | 'suspects'
  | 'loudSuspects'
>;

/** The movements of one wallet in a transaction, and its approvals. */
export type StoredMoves = {
  readonly native: readonly NativeMovement[];
  readonly erc20: readonly Erc20Movement[];
  readonly nft: readonly NftMovement[];
  readonly approvals: readonly Approval[];
  readonly borrowed: boolean;
  /** How many accounts received the same amount of the wallet's token from the same sender; 0 where there are few. */
  readonly recipients: number;
  /** The delegates that were set for the wallet, in order; the zero address ends a delegation. */
  readonly delegates: readonly string[];
};

const flag = (value: boolean) => (value ? 1 : 0);
const kinds = ['transfer', 'wrap', 'fee'] as const;
const kindNumber = { transfer: 0, wrap: 1, fee: 2 } as const;

/**
 * Writes the text of a {@link TransactionJson}. The code joins strings, because it runs for every transaction of a
 * chain. Neither hex nor numbers need an escape.
 */
export function writeTransaction(transaction: StoredTransaction): string {
  const { nonce, from, to, created, value, gas, gasPrice, gasUsed, fee, feePayer, succeeded, selector } =
    transaction;
  const parties = `"${from}",${textOrNull(to)},${textOrNull(created)}`;
  const numbers = `"${value}","${gas ?? 0n}","${gasPrice ?? 0n}","${gasUsed ?? 0n}","${fee ?? 0n}"`;
  const unknown = unknownOf(transaction);
  const rest =
    unknown === null && feePayer === null
      ? ''
      : `,${textOrNull(unknown)}${feePayer === null ? '' : `,"${feePayer}"`}`;
  return `["${nonce ?? 0n}",${parties},${numbers},${flag(succeeded)},${textOrNull(selector)}${writeRare(transaction) ?? rest}]`;
}

/** @returns undefined for most transactions */
function writeRare(transaction: StoredTransaction): string | undefined {
  const { nonce, gas, isBlobFeeUnknown, feePayerPercent, feePayer } = transaction;
  if (nonce !== null && gas !== null && isBlobFeeUnknown === undefined && feePayerPercent === undefined)
    return undefined;
  const rare: RareJson = {
    ...(nonce === null && { n: 1 }),
    ...(gas === null && { g: 1 }),
    ...(isBlobFeeUnknown === true && { b: 1 }),
    ...(feePayerPercent !== undefined && { r: feePayerPercent }),
  };
  return `,${textOrNull(unknownOf(transaction))},${textOrNull(feePayer)},${JSON.stringify(rare)}`;
}

function unknownOf({ gasUsed, gasPrice, fee }: StoredTransaction): Unknown | null {
  return gasUsed === null ? 'g' : gasPrice === null ? 'p' : fee === null ? 'f' : null;
}

const textOrNull = (value: string | null) => (value === null ? 'null' : `"${value}"`);

export function readTransaction(json: unknown): StoredTransaction {
  // writeTransaction is the only writer of the column.
  const [nonce, from, to, created, value, gas, gasPrice, gasUsed, fee, succeeded, selector, ...rest] =
    json as TransactionJson;
  const [unknown = null, feePayer = null, { n, g, b, r } = noRare] = rest;
  return {
    nonce: n === 1 ? null : BigInt(nonce),
    from,
    to,
    created,
    value: BigInt(value),
    gas: g === 1 ? null : BigInt(gas),
    gasPrice: unknown === 'p' ? null : BigInt(gasPrice),
    gasUsed: unknown === 'g' ? null : BigInt(gasUsed),
    fee: unknown === null ? BigInt(fee) : null,
    feePayer,
    succeeded: succeeded === 1,
    selector,
    ...(b === 1 && { isBlobFeeUnknown: true }),
    ...(r !== undefined && { feePayerPercent: r }),
  };
}

const noRare: RareJson = {};

/** @returns undefined when the row has no movements */
export function writeMoves({
  native,
  erc20,
  nft,
  approvals,
  borrowed,
  recipients,
  delegates,
}: StoredMoves): string | undefined {
  // Joins the text of a MovesJson as writeTransaction does.
  const parts: string[] = [];
  if (native.length > 0) parts.push(`"n":[${native.map(writeNative).join()}]`);
  if (erc20.length > 0) parts.push(`"e":[${erc20.map(writeErc20).join()}]`);
  if (nft.length > 0) parts.push(`"t":[${nft.map(writeNft).join()}]`);
  if (approvals.length > 0) parts.push(`"a":[${approvals.map(writeApproval).join()}]`);
  if (borrowed) parts.push('"b":1');
  if (recipients > 0) parts.push(`"r":${recipients}`);
  if (delegates.length > 0) parts.push(`"d":["${delegates.join('","')}"]`);
  return parts.length === 0 ? undefined : `{${parts.join()}}`;
}

const writeNative = ({ from, to, value, internal }: NativeMovement) =>
  `["${from}","${to}","${value}",${flag(internal)}]`;

const writeErc20 = ({ token, from, to, value, logIndex, kind }: Erc20Movement) =>
  `["${token}","${from}","${to}","${value}",${logIndex},${kindNumber[kind]}]`;

const writeApproval = ({ token, spender, kind, value, granted, logIndex, unsigned }: Approval) =>
  `["${token}","${spender}","${kind}","${value}",${flag(granted)},${logIndex}${unsigned ? ',1' : ''}]`;

function writeNft(move: NftMovement): string {
  const { token, tokenId, amount, from, to, standard, operator, batch, logIndex, part } = move;
  const kind = standard === 'ERC721' ? 721 : 1155;
  const what = `"${token}","${tokenId}","${amount}","${from}","${to}",${kind}`;
  return `[${what},${textOrNull(operator)},${flag(batch)},${logIndex},${part}]`;
}

/** The result of the check of one transfer or approval. */
export type MoveVerdict = Pick<Erc20Movement, 'verification' | 'unconsented' | 'received'> &
  Pick<Approval, 'isOfContract'>;

/**
 * Signed, approved, checked, forged. `n` and `u` are checked and unknown, of senders without code that did not agree.
 * `k` is an unsigned approval of a contract.
 */
type Letter = 's' | 'a' | 'c' | 'f' | 'n' | 'u' | 'k';

/** Results by log index, in a column of their own. They can arrive later and do not change what was logged. */
type VerdictsJson = Readonly<Record<string, Letter | [Letter, received: string]>>;

const verdictLetters = { signed: 's', approved: 'a', 'state-checked': 'c', forged: 'f' } as const;
const verdicts = {
  s: { verification: 'signed' },
  a: { verification: 'approved' },
  c: { verification: 'state-checked' },
  f: { verification: 'forged' },
  n: { verification: 'state-checked', unconsented: true },
  u: { unconsented: true },
  k: { isOfContract: true },
} as const satisfies Record<Letter, MoveVerdict>;

function letterOf({ verification, unconsented, isOfContract }: MoveVerdict): Letter | undefined {
  if (verification === undefined) return (unconsented && 'u') ?? (isOfContract && 'k');
  return verification === 'state-checked' && unconsented ? 'n' : verdictLetters[verification];
}

/** What of a wallet or a transaction has results. */
type Judged = Pick<StoredMoves, 'erc20' | 'nft' | 'approvals'>;

/** @returns null where nothing has a result */
export function writeVerdicts({ erc20, nft, approvals }: Judged): string | null {
  let json: Record<string, Letter | [Letter, string]> | undefined;
  const note = ({ logIndex, ...verdict }: MoveVerdict & { readonly logIndex: number }) => {
    const letter = letterOf(verdict);
    if (letter === undefined) return;
    json ??= {};
    json[logIndex] = verdict.received === undefined ? letter : [letter, String(verdict.received)];
  };
  for (const move of [...erc20, ...nft, ...approvals]) note(move);
  return json === undefined ? null : JSON.stringify(json);
}

/** Returns results by log index. */
export function readVerdicts(json: unknown): [logIndex: number, MoveVerdict][] {
  const stored = (json ?? {}) as VerdictsJson; // written by writeVerdicts
  return Object.entries(stored).map(([logIndex, value]) => {
    const [letter, received] = typeof value === 'string' ? [value] : value;
    const verdict = verdicts[letter];
    return [Number(logIndex), received === undefined ? verdict : { ...verdict, received: BigInt(received) }];
  });
}

/** Results by the index of their log in the block. */
export type Verdicts = ReadonlyMap<number, MoveVerdict>;

/** Returns the movements with the present texts and trust of their tokens. */
export function verified<Movements extends Judged>(movements: Movements, verdicts: Verdicts): Movements {
  if (verdicts.size === 0) return movements;
  const mark = <Movement extends { readonly logIndex: number }>(movement: Movement) => ({
    ...movement,
    ...verdicts.get(movement.logIndex),
  });
  return {
    ...movements,
    erc20: movements.erc20.map(mark),
    nft: movements.nft.map(mark),
    approvals: movements.approvals.map(mark),
  };
}

/** @param wallet of the row; approvals are always its own */
export function readMoves(json: unknown, wallet: string, verdictsJson: unknown = null): StoredMoves {
  const { n = [], e = [], t = [], a = [], b, r = 0, d = [] } = (json ?? {}) as MovesJson; // written by writeMoves
  const moves: StoredMoves = {
    native: n.map(([from, to, value, internal]) => ({
      from,
      to,
      value: BigInt(value),
      internal: internal === 1,
    })),
    erc20: e.map(([token, from, to, value, logIndex, kind]) => ({
      token,
      from,
      to,
      value: BigInt(value),
      logIndex,
      kind: kinds[kind],
    })),
    nft: t.map(([token, tokenId, amount, from, to, standard, operator, batch, logIndex, part]) => ({
      token,
      tokenId: BigInt(tokenId),
      amount: BigInt(amount),
      from,
      to,
      operator,
      logIndex,
      part,
      standard: standard === 721 ? 'ERC721' : 'ERC1155',
      batch: batch === 1,
    })),
    approvals: a.map(([token, spender, kind, value, granted, logIndex, unsigned]) => ({
      token,
      owner: wallet,
      spender,
      kind,
      value: BigInt(value),
      granted: granted === 1,
      logIndex,
      ...(unsigned === 1 && { unsigned: true }),
    })),
    borrowed: b === 1,
    recipients: r,
    delegates: d,
  };
  return verified(moves, new Map(readVerdicts(verdictsJson)));
}

/** One transaction as a wallet sees it. */
export type WalletTransaction = {
  readonly wallet: string;
  readonly blockNumber: bigint;
  readonly index: number;
  readonly hash: string;
  readonly blockHash: string;
  readonly blockTime: Date;
  readonly transaction: StoredTransaction;
  readonly moves: StoredMoves;
  /** Null where the block was not traced. */
  readonly internalCalls: number | null;
};
