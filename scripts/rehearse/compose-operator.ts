import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createClaimSecretVault } from '../../src/rwa/assets/claim-secret.ts';
import { issueNfts } from '../../src/rwa/assets/nft-issuer.ts';
import { startChain } from '../../test/support/chain.ts';
import { callNode } from '../../test/support/deploy.ts';
import type { RunningProcess } from '../../test/support/process.ts';
import { composeFile } from './compose-faults.ts';
import type { Bind } from './jail.ts';
import type { Report } from './report.ts';
import { serveAndStop, untilEnded } from './watch-role.ts';

const composePath = path.join(import.meta.dirname, '../../deploy/compose.yaml');
const chainId = '137';
const given: Readonly<Record<string, string>> = {
  PUBLIC_BASE_URL: 'https://api.example',
  CLAIM_BASE_URL: 'https://api.example/claim',
  MINT_SIGNERS: `${chainId}=keystore:/keystores/signer.json`,
};

/** What a runtime gives the process of a service. */
type Given = { readonly env: Readonly<Record<string, string>>; readonly binds: readonly Bind[] };

/** Reads a service of compose.yaml. @param folder where `make-secrets.sh` has made what is in `compose/` there */
async function readService(name: string, folder: string): Promise<Given> {
  const file = composeFile.loose().parse(parse(await readFile(composePath, 'utf8'), { merge: true }));
  const service = file.services[name];
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
  const place = (source: string) => path.join(folder, path.relative('compose', source));
  const secrets = service.secrets.map((secret) => ({
    ...{ from: place(file.secrets[secret]?.file ?? ''), to: `/run/secrets/${secret}` },
    isReadOnly: true,
  }));
  const volumes = service.volumes.map((volume) => {
    const [from = '', to = '', mode] = substitute(volume).split(':');
    return { from: place(from), to, isReadOnly: mode === 'ro' };
  });
  const env = Object.entries(service.environment).map(([variable, value]) => [variable, substitute(value)]);
  return { env: Object.fromEntries(env), binds: [...secrets, ...volumes] };
}

/** The value of each variable, or what the file has in its place. */
const substitute = (text: string): string =>
  text.replaceAll(/\$\{(\w+)(?::[-?]([^}]*))?\}/g, (_all, name: string, other = '') => given[name] ?? other);

type Run = (command: readonly string[], given: Given) => RunningProcess;

type Place = {
  readonly folder: string;
  /** The user of the image. */
  readonly uid: number;
  /** What the image runs by itself. */
  readonly serve: readonly string[];
  readonly databaseUrl: (kind: string) => string;
  readonly run: Run;
};

/**
 * Does with the service of operators what a new installation needs: it makes keystores, deploys, grants and exports. The worker's
 * service then starts with the keystore that was made.
 */
export async function rehearseOperator(
  { folder, uid, serve, databaseUrl, run }: Place,
  report: Report,
): Promise<void> {
  const at = (service: Given, kind: string): Given => {
    const { DATABASE_URL_FILE: _, ...env } = service.env;
    // Another server than that of compose.yaml.
    return { ...service, env: { ...env, DATABASE_URL: databaseUrl(kind) } };
  };
  const operator = at(await readService('operator', folder), 'operator');
  const tallystick = async (words: string): Promise<unknown> => {
    const told = await untilEnded(run(['src/cli.ts', '--json', ...words.split(' ')], operator));
    // What it says to people comes in between, each on a line.
    return JSON.parse(told.replaceAll(/^\{"note":.*$/gm, ''));
  };
  const chain = await startChain({ chainId, flags: ['--block-time', '1', '--slots-in-an-epoch', '1'] });
  const keys = '--keystore /admin/admin.json --password-file /run/secrets/admin_password';
  const addressed = z.object({ address: z.string() });
  let [contract, rwaId] = ['', ''];
  try {
    await report('compose operator: keystores, contract deploy and grant', async () => {
      const password = '--password-file /run/secrets/keystore_password';
      const signer = addressed.parse(await tallystick(`keystore new /keystores/signer.json ${password}`));
      const admin = addressed.parse(
        await tallystick('keystore new /admin/admin.json --password-file /run/secrets/admin_password'),
      );
      await callNode(chain.rpcUrl, 'anvil_setBalance', [admin.address, `0x${(10n ** 18n).toString(16)}`]);
      const network = `network add ${chainId} --name Chain --symbol ETH --rpc ${chain.rpcUrl}`;
      await tallystick(`${network} --confirmations 2`);
      const deployed = await tallystick(`contract deploy ${chainId} --name Casks --symbol CASK ${keys}`);
      ({ contract } = z.object({ contract: z.string() }).parse(deployed));
      await tallystick(`contract grant ${chainId} ${contract} ${signer.address} ${keys}`);
      await tallystick(`network update ${chainId} --minter-contract ${contract}`);
    });
    await report('compose operator: rwa create and export, as a file and as codes', async () => {
      await tallystick('company create acme');
      const asset = '--company acme --name Cask --type whisky --is-claimable --offline';
      const created = await tallystick(`rwa create ${asset} --chain-id ${chainId}`);
      ({ id: rwaId } = z.object({ id: z.string() }).parse(created));
      await issueTwo(databaseUrl('owner'), folder, rwaId);
      await tallystick(`rwa export ${rwaId} --out /output/cask.csv`);
      await tallystick(`rwa export ${rwaId} --qr /output/codes`);
      const output = path.join(folder, 'secrets/output');
      const found = [...(await readdir(output)), ...(await readdir(path.join(output, 'codes')))].toSorted();
      const wanted = ['000001.svg', '000002.svg', 'cask.csv', 'codes', 'sheet-001.html'];
      if (found.join() !== wanted.join()) throw new Error(`${output} has ${found.join()}`);
      const { uid: owner, mode } = await stat(path.join(output, 'cask.csv'));
      if (owner !== uid || (mode & 0o077) !== 0) throw new Error(`cask.csv is of ${owner}, mode ${mode}`);
    });
    await report('compose worker: starts with the keystore that the operator has made', async () => {
      const worker = at(await readService('worker', folder), 'worker');
      const env = { ...worker.env, PORT: '0', OPERATIONS_PORT: '0', DRAIN_SECONDS: '0' };
      await serveAndStop(run(serve, { ...worker, env }), false);
    });
  } finally {
    await chain.close();
  }
}

/** NFTs as the API makes them. */
async function issueTwo(databaseUrl: string, folder: string, rwaId: string): Promise<void> {
  const read = async (name: string) => (await readFile(path.join(folder, 'secrets', name), 'utf8')).trim();
  const config = loadConfig({
    ...given,
    ...{
      DATABASE_URL: databaseUrl,
      SECRET_KEYS: await read('secret_keys'),
      CURSOR_KEYS: await read('cursor_keys'),
    },
    ...{ MINT_KEYSTORE_PASSWORD_FILE: path.join(folder, 'secrets/keystore_password') },
  });
  const db = createDatabase(databaseUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  try {
    const rwa: { company_id: string } | undefined = await db('rwas').where({ id: rwaId }).first();
    const vault = createClaimSecretVault(config.SECRET_KEYS ?? new Map());
    const wanted = { companyId: rwa?.company_id ?? '', rwaId, count: 2 };
    await db.transaction((tx) => issueNfts(tx, vault, wanted));
  } finally {
    await db.destroy();
  }
}
