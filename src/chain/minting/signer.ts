import { getAddress, keccak256, recoverAddress, Signature, Transaction } from 'ethers';
import type { Fees } from './fees.ts';
import { encodeMintBatch, isMintCall, type Mint } from './mint-contract.ts';

/** Holds a secp256k1 key and signs digests with it. */
export type DigestSigner = {
  /** EIP-55. */
  readonly address: string;
  /** @param digest 32 bytes as hex. @returns r, s (the lower one) and the parity of the point */
  signDigest(digest: string): Promise<{ r: string; s: string; yParity: 0 | 1 }>;
};

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

/** A signed transaction and the hash that it has on the chain. */
export type Signed = { readonly hash: string; readonly raw: string };

/** Signs transactions that mint, and no others. */
export type MintSigner = {
  /** EIP-55. */
  readonly address: string;
  sign(transaction: MintTransaction): Promise<Signed>;
  /** Signs the same transaction with other fees. @throws Error when it is not a mint of this signer */
  signAgain(raw: string, fees: Fees): Promise<Signed>;
};

export function createMintSigner(key: DigestSigner): MintSigner {
  const signed = async (transaction: Transaction): Promise<Signed> => {
    if (!isMintCall(transaction.data) || transaction.value !== 0n || transaction.to === null) {
      throw new Error('The signer signs calls that mint, and no others.');
    }
    // ethers recomputes each property of a transaction at every read, and a full batch has 22 kB.
    const digest = transaction.unsignedHash;
    const signature = Signature.from(await key.signDigest(digest));
    if (recoverAddress(digest, signature) !== key.address) {
      throw new Error(`The signature is not of ${key.address}.`);
    }
    transaction.signature = signature;
    const raw = transaction.serialized;
    return { hash: keccak256(Buffer.from(raw.slice(2), 'hex')), raw };
  };

  return {
    address: key.address,
    sign({ chainId, nonce, contract, mints, gasLimit, fees }) {
      const transaction = new Transaction();
      transaction.chainId = chainId;
      // ethers takes a number; a signer that has sent more than 2^53 transactions does not exist.
      transaction.nonce = Number(nonce);
      transaction.to = getAddress(contract);
      transaction.data = encodeMintBatch(mints);
      transaction.gasLimit = gasLimit;
      return signed(withFees(transaction, fees));
    },
    signAgain(raw, fees) {
      const transaction = Transaction.from(raw);
      if (transaction.from !== key.address) throw new Error(`The transaction is not of ${key.address}.`);
      return signed(withFees(transaction, fees));
    },
  };
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
