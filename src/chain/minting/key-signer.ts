import { readFile } from 'node:fs/promises';
import { SigningKey, Wallet } from 'ethers';
import { errorCode } from '../../base/thrown.ts';
import { createMintSigner, type MintSigner } from './signer.ts';

/** Opens a keystore as {@link openWallet} does, to sign mints. */
export async function openKeystore(file: string, passwordFile: string): Promise<MintSigner> {
  return createKeySigner((await openWallet(file, passwordFile)).privateKey);
}

/**
 * Opens an encrypted keystore file (Web3 Secret Storage, as geth and ethers write it).
 * @throws Error that names the file but not the password
 */
export async function openWallet(file: string, passwordFile: string): Promise<Wallet> {
  const [keystore, password] = await Promise.all([readText(file), readText(passwordFile)]);
  try {
    // Editors and secret stores end files with a line feed that is not part of the password.
    const { privateKey } = await Wallet.fromEncryptedJson(keystore, password.replace(/\r?\n$/, ''));
    return new Wallet(privateKey);
  } catch (cause) {
    throw new Error(`The keystore ${file} cannot be opened with the password in ${passwordFile}.`, { cause });
  }
}

/** Signs with a key in memory. Only local mode creates one from a raw key; otherwise the key comes from a keystore. */
export function createKeySigner(privateKey: string): MintSigner {
  const key = new SigningKey(privateKey);
  const { address } = new Wallet(privateKey);
  return createMintSigner({ address, signDigest: async (digest) => key.sign(digest) });
}

/**
 * Makes a key that nobody has, encrypted with the password as Web3 Secret Storage. It takes about a second.
 * @returns the address in EIP-55, and what the keystore file has
 */
export async function makeKeystore(password: string): Promise<{ address: string; keystore: string }> {
  const wallet = Wallet.createRandom();
  // Without the words that the key came from: whoever has the file and the password needs no second way to it.
  const keystore = await new Wallet(wallet.privateKey).encrypt(password);
  return { address: wallet.address, keystore };
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`${file} cannot be read (${errorCode(cause) ?? 'unknown'}).`, { cause });
  });
}
