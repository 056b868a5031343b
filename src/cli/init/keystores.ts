import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../shared/failure.ts';
import { createKeystoreFile } from '../shared/keystore-file.ts';

/** A signer of mints that `init` made, or found where it would have made it. */
export type MadeSigner = { readonly chainId: string; readonly address: string; readonly keystore: string };

type Wanted = {
  readonly chainIds: readonly string[];
  /** Where keystores go. */
  readonly folder: string;
  /** The values that the settings have. */
  readonly present: Readonly<Record<string, string | undefined>>;
};

/**
 * Makes a keystore for each network that has no signer.
 * @returns the signers, and the settings that name them
 */
export async function makeSigners({ chainIds, folder, present }: Wanted): Promise<{
  signers: readonly MadeSigner[];
  values: Readonly<Record<string, string>>;
}> {
  const { MINT_SIGNERS: named = '', MINT_KEYSTORE_PASSWORD_FILE: password } = present;
  const staffed = new Set(named.split(',').map((entry) => entry.trim().split('=')[0]));
  const missing = [...new Set(chainIds)].filter((id) => !staffed.has(id));
  if (missing.length === 0) return { signers: [], values: {} };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const passwordFile = password ?? path.join(folder, 'password');
  const signers: MadeSigner[] = [];
  for (const chainId of missing) {
    const keystore = path.join(folder, `signer-${chainId}.json`);
    const address = (await keptAddress(keystore)) ?? (await createKeystoreFile({ keystore, passwordFile }));
    signers.push({ chainId, address, keystore });
  }
  const entries = signers.map(({ chainId, keystore }) => `${chainId}=keystore:${keystore}`);
  return {
    signers,
    values: {
      MINT_SIGNERS: [...(named === '' ? [] : [named]), ...entries].join(','),
      MINT_KEYSTORE_PASSWORD_FILE: passwordFile,
    },
  };
}

/** The address of a keystore that an earlier run made; undefined when there is none. */
async function keptAddress(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const address = /"address":\s*"(?:0x)?([0-9a-fA-F]{40})"/.exec(text)?.[1];
  if (address === undefined)
    throw new UsageError(`${file} is no keystore: move it away, then run init again.`);
  return `0x${address}`;
}
