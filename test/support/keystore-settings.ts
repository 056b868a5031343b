import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encryptKeystoreJson, Wallet } from 'ethers';

const root = mkdtempSync(path.join(tmpdir(), 'tallystick-keystores-'));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));

/** Settings that make a process sign for a network, with keystore files that are cheap to open: the keys are worth nothing. */
export async function keystoreSettings(
  chainId: string,
  ...privateKeys: readonly string[]
): Promise<Record<string, string>> {
  const folder = await mkdtemp(path.join(root, 'signers-'));
  const password = path.join(folder, 'password');
  await writeFile(password, 'opens', { mode: 0o600 });
  const signers = privateKeys.map(async (privateKey, index) => {
    const file = path.join(folder, `${index}.json`);
    const text = await encryptKeystoreJson(new Wallet(privateKey), 'opens', { scrypt: { N: 1_024 } });
    await writeFile(file, text, { mode: 0o600 });
    return `${chainId}=keystore:${file}`;
  });
  return { MINT_SIGNERS: (await Promise.all(signers)).join(','), MINT_KEYSTORE_PASSWORD_FILE: password };
}
