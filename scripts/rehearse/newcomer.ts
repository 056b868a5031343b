import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
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
const chainId = '137';
const installMs = 900_000;
const mintMs = 60_000;
const page = 'docs/first-nft.md';
const served = 'npm run serve';
const forms = {
  address: /0x[\da-fA-F]{40}/,
  id: /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/,
  key: /tk_live_[\dA-Za-z]{36}/,
};

/** Where a newcomer works. */
type Place = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The exports of the page so far, for every later command. */
  readonly exports: string[];
  /** What stands for each placeholder of the page. */
  readonly known: Map<string, string>;
};

/** The commands of a page, from all its blocks that match; comments are for people. */
async function commandsOf(file: string, ofBlock = (_block: string) => true): Promise<string[]> {
  const text = await readFile(path.join(root, file), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([^`]*)```/g)].map(([, block = '']) => block).filter(ofBlock);
  return blocks.flatMap((block) => block.split('\n').flatMap((line) => line.replace(/\s+#.*$/, '') || []));
}

const filled = ({ known }: Place, line: string) =>
  [...known].reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), line);

const run = (place: Place, line: string): Promise<string> =>
  runProgram('bash', ['-c', [...place.exports, filled(place, line)].join('\n')], {
    cwd: place.folder,
    env: place.env,
    timeoutMs: installMs,
  });

/** A step failed, as its report says; those after it need what it leaves. */
class StuckError extends Error {}

/**
 * Runs the block for production of README.md as it is, in a folder that has nothing of ours. Then goes on with the
 * commands of docs/first-nft.md up to a mint, without the commands of README.md, and compares its answers.
 */
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
  const place: Place = {
    folder: path.join(home, 'tallystick'),
    exports: [],
    known: new Map([
      ['https://polygon-node.example', chain.rpcUrl],
      ['https://api.example.com', `http://127.0.0.1:${port}`],
    ]),
    env: {
      PATH: ownPath(),
      HOME: process.env['HOME'] ?? home,
      DATABASE_URL: server.url,
      PUBLIC_BASE_URL: publicUrl,
      HOST: '127.0.0.1',
      PORT: String(port),
      DRAIN_SECONDS: '0',
    },
  };
  const step = async (title: string, work: () => Promise<void>) => {
    if (!(await report(title, work))) throw new StuckError(title);
  };

  const commands = await commandsOf(page);
  const shown = await commandsOf('README.md', (block) => block.includes('npm prune'));
  await step(`the commands for production in README.md are those of ${page}, in its order`, async () => {
    const same = [...new Set(commands)].filter((line) => shown.includes(line));
    if (shown.length === 0 || same.join() !== shown.join())
      throw new Error(`The page has ${same.join(', ')}`);
  });
  await step('the files of the project, in a folder of its own', () => copyFiles(place.folder));
  const service: { process?: RunningProcess } = {};
  opened.defer(() => void service.process?.child.kill('SIGKILL'));
  let tokenId = '';
  const perform = (line: string) =>
    step(line, async () => {
      if (line.startsWith('export ')) place.exports.push(filled(place, line));
      else if (line === served) service.process = await serve(place, line);
      else if (line.startsWith('curl -X POST'))
        place.known.set('<nftId>', (await until(place, line, acceptedForm)).nftId);
      else if (line.startsWith('curl ')) tokenId = (await until(place, line, mintedForm)).tokenId;
      else await learn(place, { line, rpcUrl: chain.rpcUrl });
    });
  for (const line of shown) await perform(line);
  await step('what README.md starts stops in order', () => stop(service.process));
  for (const line of commands) if (line === served || !shown.includes(line)) await perform(line);
  await step('the address of the NFT on the chain leads to its metadata', () =>
    followTokenUri(tokenId, { place, publicUrl, rpcUrl: chain.rpcUrl }),
  );
  await step('SIGTERM stops it in order', () => stop(service.process));
}

/** Runs a command and keeps what later commands need of its output. */
async function learn(place: Place, { line, rpcUrl }: { line: string; rpcUrl: string }): Promise<void> {
  const { known } = place;
  const fund = (address: string) => callNode(rpcUrl, 'anvil_setBalance', [address, '0xde0b6b3a7640000']);
  if (line.endsWith('tallystick migrate')) await seeDoctorName(place, 'Run: tallystick migrate');
  const output = await run(place, line.includes('tallystick init') ? `${line} --yes` : line);
  const part = (form: RegExp): string => {
    const [found] = form.exec(output) ?? [];
    if (found === undefined) throw new Error(`There is no ${form} in:\n${output}`);
    return found;
  };
  if (line.includes('tallystick init')) {
    known.set('<signer>', part(forms.address));
    await fund(part(forms.address));
  }
  if (line.includes('keystore new')) await fund(part(forms.address));
  if (line.includes('key create')) known.set('tk_live_…', part(forms.key));
  if (line.includes('contract deploy')) known.set('<contract>', part(forms.address));
  if (line.includes('rwa create')) known.set('<rwaId>', part(forms.id));
}

const acceptedForm = z.object({ nftId: z.string() });
// A worker reads the owner some seconds later.
const mintedForm = z.object({ tokenId: z.string(), claimStatus: z.literal('minted'), owner: z.string() });

async function seeDoctorName(place: Place, command: string): Promise<void> {
  const output = await run(place, 'npx tallystick doctor').catch(String);
  if (!output.includes(command)) throw new Error(output);
}

async function serve(place: Place, line: string): Promise<RunningProcess> {
  const service = startProcess(['-c', [...place.exports, `exec ${line}`].join('\n')], place.env, {
    command: 'bash',
    cwd: place.folder,
  });
  await service.until(/service started/);
  return service;
}

/** Sends a request again until its answer fits: a worker finds its lane, and a mint its block, some seconds later. */
async function until<T>(place: Place, line: string, form: z.ZodType<T>): Promise<T> {
  const deadline = performance.now() + mintMs;
  for (;;) {
    const output = await run(place, line.replace('curl ', 'curl -sS '));
    const answer = form.safeParse(JSON.parse(output));
    if (answer.success) {
      await compareSample(line, JSON.parse(output));
      return answer.data;
    }
    if (performance.now() > deadline) throw new Error(`The last answer is ${output}`);
    await pause(250);
  }
}

/** @throws Error when the page shows an answer of other fields, or other kinds of values, below the command */
async function compareSample(line: string, answer: unknown): Promise<void> {
  const text = await readFile(path.join(root, page), 'utf8');
  const [, shown = 'null'] = /```json\n([^`]*)```/.exec(text.slice(text.indexOf(line))) ?? [];
  const [expected, found] = [JSON.parse(shown), answer].map((each) => fieldsOf(each).toSorted().join(' '));
  if (expected !== found) throw new Error(`The page shows ${expected}\nThe service answers ${found}`);
}

/** The paths of all fields of a JSON value, each with the kind of its value. */
const fieldsOf = (value: unknown, place = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, each]) => fieldsOf(each, `${place}.${name}`))
    : [`${place}:${value === null ? 'null' : typeof value}`];

type Expected = { readonly place: Place; readonly publicUrl: string; readonly rpcUrl: string };

/** Reads the metadata of the NFT from the address that its contract gives. */
async function followTokenUri(tokenId: string, { place, publicUrl, rpcUrl }: Expected): Promise<void> {
  const contract = place.known.get('<contract>') ?? '';
  const data = new Interface(['function tokenURI(uint256)']).encodeFunctionData('tokenURI', [tokenId]);
  const result = await callNode<string>(rpcUrl, 'eth_call', [{ to: contract, data }, 'latest']);
  const uri = String(AbiCoder.defaultAbiCoder().decode(['string'], result)[0]);
  if (uri !== `${publicUrl}/v1/api/metadata/${chainId}/${contract}/${tokenId}`)
    throw new Error(`The contract names ${uri}`);
  const metadata = uri.replace(publicUrl, 'https://api.example.com');
  z.object({ name: z.string() }).parse(JSON.parse(await run(place, `curl -sSf ${metadata}`)));
}

async function stop(service: RunningProcess | undefined): Promise<void> {
  service?.child.kill('SIGTERM');
  const status = await service?.ended;
  if (status !== 0 || !service?.output().includes('service stopped'))
    throw new Error(`It ended with ${status}:\n${service?.output().slice(-2_000)}`);
}

/** The machine's own programs, without the programs of this checkout. */
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
