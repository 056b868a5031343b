import { Wallet } from 'ethers';

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
