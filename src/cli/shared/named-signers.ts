import { readKeystoreAddress } from '../../chain/minting/key-signer.ts';
import { openKmsKey } from '../../chain/minting/kms-signer.ts';
import type { Operator } from './session.ts';

/**
 * Finds the addresses of the signers that MINT_SIGNERS names for a network. It says of which it cannot tell the address: the user of a
 * command may have no right to the keystore or the key.
 */
export async function findNamedSigners(
  { config, output }: Pick<Operator, 'config' | 'output'>,
  chainId: string,
): Promise<string[]> {
  const addresses: string[] = [];
  for (const { kind, place, ...signer } of config.MINT_SIGNERS ?? []) {
    if (signer.chainId !== chainId) continue;
    try {
      addresses.push(kind === 'kms' ? (await openKmsKey(place)).address : await readKeystoreAddress(place));
    } catch {
      output.say(`The address of ${place} in MINT_SIGNERS cannot be read: name it with --signer.`);
    }
  }
  return addresses;
}
