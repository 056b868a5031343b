import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChainRpc } from '../../src/local/programs/chain-rpc.ts';
import { openLocalFolder } from '../../src/local/programs/local-folder.ts';
import { firstFreePort } from '../../src/local/programs/ports.ts';
import { isAlive } from '../../src/local/programs/processes.ts';
import {
  makeDirectory,
  programsOf,
  readCredentials,
  removeDirectory,
  runLocal,
  untilQuiet,
} from './local-run.ts';

let directory: string;

beforeAll(async () => {
  directory = await makeDirectory();
});

afterAll(() => removeDirectory(directory));

/** Keys, addresses and first blocks: what makes a world the same one. */
async function identity() {
  const { keys, contracts, wallets, rpcUrl } = await readCredentials(directory);
  const block = await createChainRpc(rpcUrl).call('eth_getBlockByNumber', '0x51', true);
  return { keys, contracts, wallets, block };
}

/** Sends a transaction. It is in a block when this resolves: the node gives its hash a moment earlier. */
async function send(): Promise<string> {
  const { wallets, rpcUrl } = await readCredentials(directory);
  const transaction = { from: wallets[0], to: wallets[1], value: '0x1' };
  const hash = String(await createChainRpc(rpcUrl).call('eth_sendTransaction', transaction));
  await expect.poll(() => receiptOf(hash), { timeout: 10_000 }).toMatchObject({ status: '0x1' });
  return hash;
}

async function receiptOf(hash: string): Promise<unknown> {
  const { rpcUrl } = await readCredentials(directory);
  return createChainRpc(rpcUrl).call('eth_getTransactionReceipt', hash);
}

// One world through all that can happen to it, in this order.
describe('the local world', () => {
  let made: Awaited<ReturnType<typeof identity>>;

  test('begins anew when its first start was killed half-way, and leaves nothing running then', async () => {
    const interrupted = runLocal(directory);
    await interrupted.said(/Making/);
    interrupted.child.kill('SIGKILL');
    await interrupted.ended;
    await untilQuiet(directory);
    const next = runLocal(directory);
    await next.ready;
    made = await identity();
    await send();
    next.child.kill('SIGKILL');
    await next.ended;
  });

  test('leaves nothing running when its process is killed, and is the same at the next start', async () => {
    await untilQuiet(directory);
    const run = runLocal(directory);
    await run.ready;
    expect(run.lines).toEqual([]);
    expect(await identity()).toEqual(made);
    const hash = await send();
    run.child.kill('SIGKILL');
    await untilQuiet(directory);
    const next = runLocal(directory);
    await next.ready;
    expect(await receiptOf(hash)).toMatchObject({ status: '0x1' });
    for (const { pid } of programsOf(directory)) process.kill(pid, 'SIGKILL');
    next.child.kill('SIGKILL');
    await untilQuiet(directory);
  });

  test('is the same after every one of its processes was killed at once', async () => {
    const run = runLocal(directory);
    await run.ready;
    expect(await identity()).toEqual(made);
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(0);
    expect(programsOf(directory)).toEqual([]);
  });

  test('ends programs of a killed start whose supervisors were killed too', async () => {
    const run = runLocal(directory);
    await run.ready;
    const programs = programsOf(directory);
    run.child.kill('SIGSTOP');
    for (const { pid, words } of programs) if (words[0] === 'sh') process.kill(pid, 'SIGKILL');
    run.child.kill('SIGKILL');
    await run.ended;
    const left = programs.filter(({ pid, words }) => words[0] !== 'sh' && isAlive(pid));
    // A session that PostgreSQL has just forked has the words of its server for a moment.
    expect(new Set(left.map(({ words }) => words[0])).size).toBe(2);
    const next = runLocal(directory);
    await next.ready;
    expect(left.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(await identity()).toEqual(made);
    await refusesSecond();
    next.child.kill('SIGTERM');
    expect(await next.ended).toBe(0);
  });

  async function refusesSecond() {
    const second = runLocal(directory);
    expect((await second.outcome).message).toMatch(/is running here already \(process \d+\)/);
  }

  test('is another one after --fresh', async () => {
    const run = runLocal(directory, { fresh: true });
    await run.ready;
    const { keys, contracts } = await readCredentials(directory);
    expect(keys).not.toEqual(made.keys);
    expect(contracts).toEqual(made.contracts);
    const told = run.said(/"failed".*The local chain has ended unasked/);
    const chain = programsOf(directory).find(({ words }) => words[0]?.endsWith('anvil'));
    process.kill(chain?.pid ?? 0, 'SIGKILL');
    await told;
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(0);
  });

  test('asks for --fresh when what it keeps cannot be used', async () => {
    await writeFile(path.join(directory, '.local/chain/state.json'), '{ "cut off');
    const unreadable = runLocal(directory);
    expect((await unreadable.outcome).message).toMatch(/chain did not start: .*npm start -- --fresh$/s);
    await unreadable.ended;
    await rm(path.join(directory, '.local/chain'), { recursive: true });
    const gone = runLocal(directory);
    expect((await gone.outcome).message).toMatch(/The chain of this world is gone.*npm start -- --fresh$/);
    await gone.ended;
    const file = path.join(directory, '.local/world.json');
    await writeFile(file, JSON.stringify({ version: 99 }));
    const newer = runLocal(directory);
    expect((await newer.outcome).message).toMatch(/made by a later version.*npm start -- --fresh$/);
    await newer.ended;
    expect(programsOf(directory)).toEqual([]);
  });
});

describe('a start that cannot be', () => {
  test('says that the port is taken, and starts nothing', async () => {
    const port = await firstFreePort(23_000);
    const server = createServer().listen(port, '127.0.0.1');
    const run = runLocal(directory, { env: { PORT: String(port) } });
    expect((await run.outcome).message).toBe(
      `Port ${port} is taken by another program. Choose another one: PORT=${port + 1} npm start`,
    );
    expect(programsOf(directory)).toEqual([]);
    await run.ended;
    server.close();
  });

  test('says that it may not write', () => {
    expect(() => openLocalFolder('/proc')).toThrow(/^No permission to write in \/proc\/\.local/);
  });

  test('names every fault of the environment', async () => {
    const run = runLocal(directory, { env: { LOG_LEVEL: 'loud', RATE_LIMIT_BURST: 'many' } });
    expect((await run.outcome).message).toMatch(/2 fault\(s\).*LOG_LEVEL.*RATE_LIMIT_BURST/s);
    await run.ended;
  });
});
