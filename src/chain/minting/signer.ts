import { getAddress, keccak256, recoverAddress, Signature, Transaction } from 'ethers';
import type { Fees } from './fees.ts';
import {
  decodeMintBatch,
  decodeRefresh,
  encodeMintBatch,
  encodeRefresh,
  type Mint,
  type TokenIdRange,
} from './mint-contract.ts';

/** Signs digests with its secp256k1 key. */
export type DigestSigner = {
  /** EIP-55. */
  readonly address: string;
  /** @param digest 32 bytes as hex. @returns r, s (the lower one) and the parity of the point */
  signDigest(digest: string): Promise<{ r: string; s: string; yParity: 0 | 1 }>;
};

/** The key gives no signature at present: its keeper cannot be reached, does not answer, or rejects the request. */
export class SignerUnavailableError extends Error {
  constructor(address: string, cause: unknown) {
    super(`${address} does not sign: ${wordsOf(cause)}`, { cause });
    this.name = 'SignerUnavailableError';
  }
}

// When each of several addresses fails, the error of Node has only a code.
function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

type Common = {
  /** Decimal. */
  readonly chainId: string;
  readonly nonce: bigint;
  readonly gasLimit: bigint;
  readonly fees: Fees;
};

/** A transaction that mints. */
type MintTransaction = Common & {
  /** EIP-55. */
  readonly contract: string;
  readonly mints: readonly Mint[];
};

/** A transaction that mints nothing, and reports that metadata of these tokens changed. */
type RefreshTransaction = Omit<MintTransaction, 'mints'> & { readonly refresh: TokenIdRange };

/** A transfer of nothing from the signer to itself, which only uses a nonce. */
type FillTransaction = Common & { readonly contract?: undefined };

export type OwnTransaction = MintTransaction | RefreshTransaction | FillTransaction;

/** A signed transaction and the hash that it has on the chain. */
export type Signed = { readonly hash: string; readonly raw: string };

/** Signs transactions that mint, report changed metadata or fill a nonce, and no others. */
export type MintSigner = {
  /** EIP-55. */
  readonly address: string;
  /** @throws SignerUnavailableError while the key gives no signature */
  sign(transaction: OwnTransaction): Promise<Signed>;
};

export function createMintSigner(key: DigestSigner): MintSigner {
  return {
    address: key.address,
    async sign(wanted) {
      const transaction = toTransaction(wanted, key.address);
      // ethers recomputes each property of a transaction at every read, and a full batch has 22 kB.
      const digest = transaction.unsignedHash;
      const signature = Signature.from(await signDigest(key, digest));
      if (recoverAddress(digest, signature) !== key.address) {
        throw new Error(`The signature is not of ${key.address}.`);
      }
      transaction.signature = signature;
      const raw = transaction.serialized;
      return { hash: keccak256(Buffer.from(raw.slice(2), 'hex')), raw };
    },
  };
}

type Replacement = Pick<Common, 'gasLimit' | 'fees'> & {
  /** Of the mints that stay. */
  readonly tokenIds: readonly string[];
};

/**
 * Returns what replaces a signed transaction at its nonce: all of its mints or some, and no others; one that only uses
 * the nonce where none is left. What reports changed metadata still does so.
 * @throws Error when the transaction is not of this signer, or has no such mint
 */
export function replacementOf(
  raw: string,
  signer: string,
  { tokenIds, gasLimit, fees }: Replacement,
): OwnTransaction {
  const { chainId, from, nonce } = Transaction.from(raw);
  if (from !== signer) throw new Error(`The transaction is not of ${signer}.`);
  const { contract, mints, refresh } = readSigned(raw);
  const wanted = new Set(tokenIds);
  const kept = mints.filter(({ tokenId }) => wanted.has(tokenId));
  if (kept.length < wanted.size)
    throw new Error('A replacement mints nothing that the transaction does not.');
  const same = { chainId: chainId.toString(), nonce: BigInt(nonce), gasLimit, fees };
  if (refresh !== undefined) return { ...same, contract, refresh };
  return kept.length === 0 ? same : { ...same, contract, mints: kept };
}

function toTransaction(wanted: OwnTransaction, signer: string): Transaction {
  const transaction = new Transaction();
  transaction.chainId = wanted.chainId;
  // ethers takes a number; a signer that has sent more than 2^53 transactions does not exist.
  transaction.nonce = Number(wanted.nonce);
  transaction.to = wanted.contract === undefined ? signer : getAddress(wanted.contract);
  transaction.data = dataOf(wanted);
  transaction.gasLimit = wanted.gasLimit;
  return withFees(transaction, wanted.fees);
}

function dataOf(wanted: OwnTransaction): string {
  if (wanted.contract === undefined) return '0x';
  return 'refresh' in wanted ? encodeRefresh(wanted.refresh) : encodeMintBatch(wanted.mints);
}

// What keeps a key may fail with the codes of a lost connection, which must not be taken for one to the database.
function signDigest(key: DigestSigner, digest: string): ReturnType<DigestSigner['signDigest']> {
  return key.signDigest(digest).catch((cause: unknown) => {
    throw new SignerUnavailableError(key.address, cause);
  });
}

/** What a signer may sign. */
export type SignerScope = {
  /** Decimal. */
  readonly chainId: string;
  /** Whether it may mint on the contract, in EIP-55. */
  allows(contract: string): Promise<boolean>;
};

/**
 * Keeps a signer to one chain and to the contracts that it may mint on, whatever is stored as its transactions.
 * @returns the signer; it rejects when it is asked for anything else
 */
export function limitSigner(signer: MintSigner, { chainId, allows }: SignerScope): MintSigner {
  return {
    address: signer.address,
    async sign(transaction) {
      const { chainId: wanted, contract } = transaction;
      if (wanted !== chainId)
        throw new Error(`${signer.address} signs for network ${chainId}, not ${wanted}.`);
      if (contract !== undefined && !(await allows(getAddress(contract))))
        throw new Error(`${signer.address} does not sign for ${contract}: no asset has this contract.`);
      return signer.sign(transaction);
    },
  };
}

/** What a signed transaction says. */
type SignedContent = {
  readonly contract: string;
  readonly gasLimit: bigint;
  /** None when it reports changed metadata, or only uses its nonce. */
  readonly mints: readonly Mint[];
  /** The tokens whose changed metadata it reports; undefined when it reports none. */
  readonly refresh?: TokenIdRange | undefined;
};

/** Reads a transaction that a signer of mints has signed. @throws Error when it is another one */
export function readSigned(raw: string): SignedContent {
  const { data, gasLimit, to } = Transaction.from(raw);
  const refresh = decodeRefresh(data);
  const mints = data === '0x' || refresh !== undefined ? [] : decodeMintBatch(data);
  return { contract: to ?? '', gasLimit, mints, refresh };
}

/** The most that a signed transaction can cost, in wei. A chain may charge more than gas, which is not included. */
export function mostCostOf(raw: string): bigint {
  const { gasLimit, maxFeePerGas, gasPrice } = Transaction.from(raw);
  return gasLimit * (maxFeePerGas ?? gasPrice ?? 0n);
}

function withFees(transaction: Transaction, { maxFeePerGas, maxPriorityFeePerGas }: Fees): Transaction {
  if (maxPriorityFeePerGas === null) {
    transaction.type = 0;
    transaction.gasPrice = maxFeePerGas;
  } else {
    transaction.type = 2;
    transaction.maxFeePerGas = maxFeePerGas;
    transaction.maxPriorityFeePerGas = maxPriorityFeePerGas;
  }
  return transaction;
}
