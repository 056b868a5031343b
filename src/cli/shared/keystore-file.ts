import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { errorCode, errorText } from '../../base/thrown.ts';
import { checksumAddress } from '../../chain/address.ts';
import { makeKeystore } from '../../chain/minting/key-signer.ts';
import { UsageError } from './failure.ts';

type Files = { readonly keystore: string; readonly passwordFile: string };

/**
 * Makes a keystore file, and the file of its password where there is none, both readable for nobody else.
 * @returns the address of the key, in EIP-55
 * @throws UsageError when there is a keystore already, which is never written over
 */
export async function createKeystoreFile({ keystore, passwordFile }: Files): Promise<string> {
  const password = await passwordOf(passwordFile);
  const made = await makeKeystore(password);
  await writeNew(keystore, `${made.keystore}\n`);
  return made.address;
}

/** Returns the password of the file, or a new password that the file has from now on. */
async function passwordOf(file: string): Promise<string> {
  const made = randomBytes(24).toString('hex');
  try {
    await writeFile(file, `${made}\n`, { flag: 'wx', mode: 0o600 });
    return made;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw cannotWrite(file, error);
  }
  const kept = (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  if (kept === '') throw new UsageError(`${file} is empty: write a password into it, or remove it.`);
  return kept;
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw cannotWrite(file, error);
    throw new UsageError(`${file} is there already, and a key is never written over. Name another file.`);
  }
}

/** The address that a keystore file names, in EIP-55; undefined where the file cannot be read or names none. */
export async function keystoreAddress(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const address = /"address":\s*"(?:0x)?([0-9a-fA-F]{40})"/.exec(text)?.[1];
  return address === undefined ? undefined : checksumAddress(`0x${address}`);
}

const cannotWrite = (file: string, cause: unknown) =>
  new UsageError(`${file} cannot be written: ${errorText(cause)}`);
