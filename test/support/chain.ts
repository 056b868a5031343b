import { spawn } from 'node:child_process';
import { anvilProgram } from '../../src/local/programs/packaged-programs.ts';
import { killAtExit } from './kill-at-exit.ts';
import { freePort } from './postgres.ts';

export type TestChain = {
  readonly rpcUrl: string;
  readonly chainId: string;
  readonly pid: number;
  close(): Promise<void>;
};

export type ChainOptions = {
  readonly chainId?: string;
  /** Further arguments of the node program. */
  readonly flags?: readonly string[];
  /** How long it may take until it answers, in milliseconds. */
  readonly startMs?: number;
};

/** Starts a real local chain on a free port. It mines on demand, and its ten accounts have funds. */
export async function startChain({
  chainId = '31337',
  flags = [],
  startMs = 10_000,
}: ChainOptions = {}): Promise<TestChain> {
  const port = await freePort();
  const child = spawn(anvilProgram(), ['--port', String(port), '--chain-id', chainId, '--quiet', ...flags], {
    stdio: 'ignore',
  });
  killAtExit(child);
  const rpcUrl = `http://127.0.0.1:${port}`;
  await untilAnswering(rpcUrl, startMs);
  return {
    rpcUrl,
    chainId,
    pid: child.pid ?? 0,
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

async function untilAnswering(rpcUrl: string, startMs: number): Promise<void> {
  const deadline = Date.now() + startMs;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const ask = () =>
    fetch(rpcUrl, { method: 'POST', body, headers: { 'content-type': 'application/json' } }).then(
      (response) => response.ok,
      () => false,
    );
  while (!(await ask())) {
    if (Date.now() > deadline) throw new Error(`no node answers at ${rpcUrl}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
