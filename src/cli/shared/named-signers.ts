import { openKmsKey } from '../../chain/minting/kms-signer.ts';
import { keystoreAddress } from './keystore-file.ts';
import type { Operator } from './session.ts';

/**
 * Finds the addresses of the signers that MINT_SIGNERS names for a network. It names those whose address it cannot
 * read: the user of a command may have no right to the keystore or the key.
 * @param advice what the user reads about each such signer
 */
export async function findNamedSigners(
  { config, output }: Pick<Operator, 'config' | 'output'>,
  chainId: string,
  advice: string,
): Promise<string[]> {
  const addresses: string[] = [];
  for (const { kind, place, ...signer } of config.MINT_SIGNERS ?? []) {
    if (signer.chainId !== chainId) continue;
    const address = await (kind === 'kms' ? kmsAddress(place) : keystoreAddress(place));
    if (address !== undefined) addresses.push(address);
    else output.say(`The address of ${place} in MINT_SIGNERS cannot be read: ${advice}.`);
  }
  return addresses;
}

const kmsAddress = (arn: string): Promise<string | undefined> =>
  openKmsKey(arn).then(
    ({ address }) => address,
    () => undefined,
  );
