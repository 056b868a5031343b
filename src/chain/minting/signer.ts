import { getAddress, keccak256, recoverAddress, Signature, Transaction } from 'ethers';
import type { Fees } from './fees.ts';
import {
  decodeMintBatch,
  decodeRefresh,
  encodeMintBatch,
  encodeRefresh,
  type Mint,
  type TokenRange,
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

type MintTransaction = {
  /** Decimal. */
  readonly chainId: string;
  readonly nonce: bigint;
  /** EIP-55. */
  readonly contract: string;
  readonly mints: readonly Mint[];
  readonly gasLimit: bigint;
  readonly fees: Fees;
};

/** A transaction that mints nothing, and reports that metadata of these tokens changed. */
type RefreshTransaction = Omit<MintTransaction, 'mints'> & { readonly refresh: TokenRange };

/** A transfer of nothing from the signer to itself, which uses a nonce. */
type FillTransaction = Pick<MintTransaction, 'chainId' | 'nonce' | 'gasLimit' | 'fees'>;

/** A signed transaction and the hash that it has on the chain. */
export type Signed = { readonly hash: string; readonly raw: string };

/**
 * Signs transactions that mint, report changed metadata or fill a nonce, and no others. Every method rejects with {@link SignerUnavailableError} while the
 * key gives no signature.
 */
export type MintSigner = {
  /** EIP-55. */
  readonly address: string;
  sign(transaction: MintTransaction | RefreshTransaction): Promise<Signed>;
  /** Signs a transaction that only uses its nonce. */
  signFill(transaction: FillTransaction): Promise<Signed>;
  /**
   * Signs what replaces a signed transaction at its nonce: all of its mints or some, and no others; one that only uses
   * the nonce where none is left. What reports changed metadata still does so.
   * @throws Error when the transaction is not of this signer, or has no such mint
   */
  signReplacement(raw: string, replacement: Replacement): Promise<Signed>;
};

type Replacement = Pick<MintTransaction, 'gasLimit' | 'fees'> & {
  /** Of the mints that stay. */
  readonly tokenIds: readonly string[];
};

export function createMintSigner(key: DigestSigner): MintSigner {
  const signed = async (transaction: Transaction): Promise<Signed> => {
    // ethers recomputes each property of a transaction at every read, and a full batch has 22 kB.
    const digest = transaction.unsignedHash;
    const signature = Signature.from(await signDigest(key, digest));
    if (recoverAddress(digest, signature) !== key.address) {
      throw new Error(`The signature is not of ${key.address}.`);
    }
    transaction.signature = signature;
    const raw = transaction.serialized;
    return { hash: keccak256(Buffer.from(raw.slice(2), 'hex')), raw };
  };

  const sign = (transaction: MintTransaction | RefreshTransaction) => {
    const data =
      'refresh' in transaction ? encodeRefresh(transaction.refresh) : encodeMintBatch(transaction.mints);
    return signed(toTransaction({ ...transaction, to: getAddress(transaction.contract), data }));
  };
  const signFill = (transaction: FillTransaction) =>
    signed(toTransaction({ ...transaction, to: key.address, data: '0x' }));

  return {
    address: key.address,
    sign,
    signFill,
    async signReplacement(raw, { tokenIds, gasLimit, fees }) {
      const { chainId, from, nonce } = Transaction.from(raw);
      if (from !== key.address) throw new Error(`The transaction is not of ${key.address}.`);
      const { contract, mints, refresh } = readSigned(raw);
      const wanted = new Set(tokenIds);
      const kept = mints.filter(({ tokenId }) => wanted.has(tokenId));
      if (kept.length < wanted.size)
        throw new Error('A replacement mints nothing that the transaction does not.');
      const same = { chainId: chainId.toString(), nonce: BigInt(nonce), gasLimit, fees };
      if (refresh !== undefined) return sign({ ...same, contract, refresh });
      return kept.length === 0 ? signFill(same) : sign({ ...same, contract, mints: kept });
    },
  };
}

function toTransaction({
  chainId,
  data,
  fees,
  gasLimit,
  nonce,
  to,
}: FillTransaction & { readonly to: string; readonly data: string }): Transaction {
  const transaction = new Transaction();
  transaction.chainId = chainId;
  // ethers takes a number; a signer that has sent more than 2^53 transactions does not exist.
  transaction.nonce = Number(nonce);
  transaction.to = to;
  transaction.data = data;
  transaction.gasLimit = gasLimit;
  return withFees(transaction, fees);
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
  const checkChain = (wanted: string) => {
    if (wanted === chainId) return;
    throw new Error(`${signer.address} signs for network ${chainId}, not ${wanted}.`);
  };
  const checkContract = async (contract: string) => {
    if (await allows(contract)) return;
    throw new Error(`${signer.address} does not sign for ${contract}: no asset has this contract.`);
  };
  return {
    address: signer.address,
    async sign(transaction) {
      checkChain(transaction.chainId);
      await checkContract(getAddress(transaction.contract));
      return signer.sign(transaction);
    },
    async signFill(transaction) {
      checkChain(transaction.chainId);
      return signer.signFill(transaction);
    },
    async signReplacement(raw, replacement) {
      checkChain(Transaction.from(raw).chainId.toString());
      const { contract, mints, refresh } = readSigned(raw);
      if (mints.length > 0 || refresh !== undefined) await checkContract(contract);
      return signer.signReplacement(raw, replacement);
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
  readonly refresh?: TokenRange | undefined;
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
