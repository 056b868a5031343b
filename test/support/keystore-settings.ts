import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encryptKeystoreJson, Wallet } from 'ethers';

/** Settings that make a process sign for a network, with a keystore file that is cheap to open: the key is worth nothing. */
export async function keystoreSettings(chainId: string, privateKey: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tallystick-keystore-'));
  const [keystore, password] = [path.join(folder, 'keystore.json'), path.join(folder, 'password')];
  await writeFile(password, 'opens');
  await writeFile(
    keystore,
    await encryptKeystoreJson(new Wallet(privateKey), 'opens', { scrypt: { N: 1_024 } }),
  );
  return { MINT_SIGNERS: `${chainId}=keystore:${keystore}`, MINT_KEYSTORE_PASSWORD_FILE: password };
}
