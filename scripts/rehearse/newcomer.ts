import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AbiCoder, Interface } from 'ethers';
import { z } from 'zod';
import { firstFreePort } from '../../src/local/programs/ports.ts';
import { startChain } from '../../test/support/chain.ts';
import { callNode } from '../../test/support/deploy.ts';
import { type RunningProcess, startProcess } from '../../test/support/process.ts';
import { startDatabaseServer } from '../load/database-server.ts';
import { runProgram } from '../run-program.ts';
import type { Report } from './report.ts';

const root = path.join(import.meta.dirname, '../..');
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
// Of the network in the README's lines. The chain behind it is one of its own.
const chainId = '137';
const installMs = 900_000;
const mintMs = 60_000;
const addressForm = /0x[\da-fA-F]{40}/;

/** Where a newcomer works, with what he was told so far. */
type Place = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The line of the README that names the settings file to every command. */
  readonly before: string;
};

/** The commands of the README's block in which this text stands; comments are for people. */
async function linesWith(text: string): Promise<string[]> {
  const readme = await readFile(path.join(root, 'README.md'), 'utf8');
  const block = [...readme.matchAll(/```sh\n([^`]*)```/g)].find(([, body = '']) => body.includes(text))?.[1];
  if (block === undefined) throw new Error(`README.md has no block with: ${text}`);
  return block.split('\n').flatMap((line) => line.replace(/\s+#.*$/, '') || []);
}

const run = ({ folder, env, before }: Place, line: string): Promise<string> =>
  runProgram('bash', ['-c', `${before}\n${line}`], { cwd: folder, env, timeoutMs: installMs });

/** A step failed, as its report says; those after it need what it leaves. */
class StuckError extends Error {}

/** Follows the README's lines for production as they stand there, in a folder that has nothing of ours, up to a mint. */
export async function rehearseNewcomer(report: Report): Promise<void> {
  await follow(report).catch((error: unknown) => {
    if (!(error instanceof StuckError)) throw error;
  });
}

async function follow(report: Report): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const home = await mkdtemp(path.join(tmpdir(), 'tallystick-newcomer-'));
  opened.defer(() => rm(home, { recursive: true, force: true }));
  const server = opened.adopt(await startDatabaseServer(path.join(home, 'database')), (one) => one.close());
  const flags = ['--block-time', '1', '--slots-in-an-epoch', '1'];
  const chain = opened.adopt(await startChain({ chainId, flags }), (one) => one.close());
  const port = await firstFreePort(24_000);
  const publicUrl = `http://tallystick.example:${port}`;
  const [install = '', init = '', name = '', doctor = '', migrate = '', serve = ''] =
    await linesWith('npm prune --omit=dev');
  const place: Place = {
    folder: path.join(home, 'tallystick'),
    before: name,
    env: {
      ...{ PATH: ownPath(), HOME: process.env['HOME'] ?? home },
      ...{ DATABASE_URL: server.url, PUBLIC_BASE_URL: publicUrl },
      ...{ HOST: '127.0.0.1', PORT: String(port), DRAIN_SECONDS: '0' },
    },
  };

  const step = async (title: string, work: () => Promise<void>) => {
    if (!(await report(title, work))) throw new StuckError(title);
  };
  await step('the files of the project, in a folder of its own', () => copyFiles(place.folder));
  await step(install, async () => void (await run(place, install)));
  let signer = '';
  await step(`${init} --yes --mint ${chainId}`, async () => {
    signer = addressIn(await run({ ...place, before: '' }, `${init} --yes --mint ${chainId}`));
  });
  await step(`${doctor}, which names the next command`, async () => {
    const told = await run(place, doctor).catch(String);
    if (!told.includes('Run: tallystick migrate')) throw new Error(told);
  });
  await step(migrate, async () => void (await run(place, migrate)));
  const tallystick = (words: string) => run(place, `npx tallystick ${words}`);
  await step('network add, company create', async () => {
    await tallystick(
      `network add ${chainId} --name Chain --symbol ETH --rpc ${chain.rpcUrl} --confirmations 2`,
    );
    await tallystick('company create acme');
  });
  const contract = await deployContract(place, { signer, rpcUrl: chain.rpcUrl, step });
  await step('rwa import', async () => {
    const rows = `name,type,chainId,contractAddress,isClaimable\nCask 17,whisky,${chainId},${contract},true\n`;
    await writeFile(path.join(place.folder, 'casks.csv'), rows);
    await tallystick('rwa import casks.csv --company acme');
  });
  const made = z
    .object({ key: z.string() })
    .parse(JSON.parse(await tallystick('--json key create --company acme')));

  const service = startProcess(['-c', `${name}\nexec ${serve}`], place.env, {
    command: 'bash',
    cwd: place.folder,
  });
  opened.defer(() => void service.child.kill('SIGKILL'));
  await step(serve, async () => void (await service.until(/service started/)));
  const asked = { base: `http://127.0.0.1:${port}`, key: made.key };
  await step('an NFT is issued, minted, and its address on the chain leads to its metadata', () =>
    mintOne(asked, { publicUrl, contract, rpcUrl: chain.rpcUrl }),
  );
  await step(`${doctor}, which finds no fault`, async () => void (await run(place, doctor)));
  await step('SIGTERM stops it in order', () => stop(service));
}

/** The machine's own programs, without those of this checkout. */
const ownPath = () =>
  (process.env['PATH'] ?? '')
    .split(':')
    .filter((entry) => !entry.includes('node_modules'))
    .join(':');

async function copyFiles(folder: string): Promise<void> {
  const listed = await runProgram('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  for (const file of listed.split('\0').filter((each) => each !== '')) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await cp(path.join(root, file), path.join(folder, file));
  }
}

function addressIn(text: string): string {
  const [address] = addressForm.exec(text) ?? [];
  if (address === undefined) throw new Error(`No address was told:\n${text}`);
  return address;
}

type Deployment = {
  readonly signer: string;
  readonly rpcUrl: string;
  readonly step: (title: string, work: () => Promise<void>) => Promise<void>;
};

/** Follows the README's lines from an admin's keystore to a network that mints. @returns the contract's address */
async function deployContract(place: Place, { signer, rpcUrl, step }: Deployment): Promise<string> {
  let contract = '';
  const fund = (address: string) => callNode(rpcUrl, 'anvil_setBalance', [address, '0xde0b6b3a7640000']);
  await fund(signer);
  for (const line of await linesWith(`contract deploy ${chainId}`)) {
    await step(line, async () => {
      const told = await run(place, line.replaceAll('<contract>', contract).replaceAll('<signer>', signer));
      if (line.includes('keystore new')) await fund(addressIn(told));
      if (line.includes('contract deploy')) contract = addressIn(told);
    });
  }
  return contract;
}

type Asked = { readonly base: string; readonly key: string };

async function ask<T>({ base, key }: Asked, form: z.ZodType<T>, url: string, body?: object): Promise<T> {
  const answer = await fetch(base + url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return form.parse(JSON.parse(text));
}

const nftForm = z.object({
  id: z.string(),
  tokenId: z.string(),
  secret: z.string(),
  claimStatus: z.string(),
});

async function mintOne(
  asked: Asked,
  expected: { publicUrl: string; contract: string; rpcUrl: string },
): Promise<void> {
  const { rwas } = await ask(asked, z.object({ rwas: z.array(z.object({ id: z.string() })) }), '/v1/api/rwa');
  const issued = z.union([
    z.array(nftForm),
    z.object({ nfts: z.array(nftForm) }).transform(({ nfts }) => nfts),
  ]);
  const [nft] = await ask(asked, issued, `/v1/api/rwa/${rwas[0]?.id}/nfts`, { count: 1 });
  if (nft === undefined) throw new Error('no NFT was issued');
  await ask(asked, z.unknown(), `/v1/api/nft/${nft.id}/mint`, { secret: nft.secret, recipient });
  const deadline = performance.now() + mintMs;
  const status = async () => (await ask(asked, nftForm, `/v1/api/nft/${nft.id}`)).claimStatus;
  while ((await status()) !== 'minted') {
    if (performance.now() > deadline) throw new Error(`It is ${await status()} after a minute.`);
    await pause(250);
  }
  const { publicUrl, contract, rpcUrl } = expected;
  const data = new Interface(['function tokenURI(uint256)']).encodeFunctionData('tokenURI', [nft.tokenId]);
  const answer = await callNode<string>(rpcUrl, 'eth_call', [{ to: contract, data }, 'latest']);
  const uri = String(AbiCoder.defaultAbiCoder().decode(['string'], answer)[0]);
  if (uri !== `${publicUrl}/v1/api/metadata/${chainId}/${contract}/${nft.tokenId}`)
    throw new Error(`The contract names ${uri}`);
  await ask({ ...asked, key: '' }, z.object({ name: z.string() }), uri.slice(publicUrl.length));
}

async function stop(service: RunningProcess): Promise<void> {
  service.child.kill('SIGTERM');
  const status = await service.ended;
  if (status !== 0 || !service.output().includes('service stopped'))
    throw new Error(`It ended with ${status}:\n${service.output().slice(-2_000)}`);
}
