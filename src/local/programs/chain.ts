import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ChainRpc, createChainRpc } from './chain-rpc.ts';
import { type ChainSaver, createChainSaver } from './chain-saver.ts';
import { LocalError } from './local-error.ts';
import { anvilProgram } from './packaged-programs.ts';
import { startGuarded } from './supervisor.ts';

/** As the tools of developers expect it; wallets know this id as a local chain. */
export const localChainId = '31337';

export type LocalChain = {
  readonly rpcUrl: string;
  readonly rpc: ChainRpc;
  readonly ended: Promise<number>;
  /** Writes the present state; it is on disk when this resolves. */
  save(): Promise<void>;
  /** From now on every new block is saved as it comes. */
  saveEveryBlock(): void;
  stop(): Promise<void>;
};

export type ChainOptions = {
  /** Holds the state; made if it is not there. */
  readonly folder: string;
  readonly port: number;
  /** Time of the first block of a new chain, in seconds since 1970. */
  readonly genesisTime: number;
};

/** The file that a running chain of the folder is known by. */
export const exitStateFile = (folder: string) => path.join(folder, 'state.exit.json');
const stateFile = (folder: string) => path.join(folder, 'state.json');

export const hasState = (folder: string) => existsSync(stateFile(folder));

// Blocks come on demand, in the order in which transactions came. Its depth of finality is 0: confirmations
// are 1 and nobody else writes here, and state before a restart is known of the last block only. What is
// kept is bounded: transactions of the last 5,000 blocks that had any (2 KB each in the file), and the state
// after each of the last 128 blocks.
const flags = [
  '--quiet',
  ...['--host', '127.0.0.1', '--chain-id', localChainId, '--order', 'fifo', '--slots-in-an-epoch', '0'],
  ...['--transaction-block-keeper', '5000', '--prune-history', '128'],
];

/**
 * Starts the chain of a folder where it stopped, or a new one. It ends with this process, however that ends,
 * and writes its state then.
 * @throws LocalError when it does not start
 */
export async function startLocalChain({ folder, port, genesisTime }: ChainOptions): Promise<LocalChain> {
  mkdirSync(folder, { recursive: true });
  const state = stateFile(folder);
  const logFile = path.join(folder, 'chain.log');
  const sign = path.join(folder, 'started.json');
  rmSync(sign, { force: true });
  const begin = hasState(folder) ? ['--load-state', state] : ['--timestamp', String(genesisTime)];
  const program = startGuarded({
    command: anvilProgram(),
    args: [
      ...flags,
      '--port',
      String(port),
      '--config-out',
      sign,
      ...begin,
      '--dump-state',
      exitStateFile(folder),
    ],
    logFile,
    moveAtEnd: { from: exitStateFile(folder), to: state },
  });
  const rpcUrl = `http://127.0.0.1:${port}`;
  const rpc = createChainRpc(rpcUrl);
  if (!(await untilAnswering(rpc, sign, program.ended))) {
    await program.stop();
    throw new LocalError(notStarted(readFileSync(logFile, 'utf8').trim(), hasState(folder) && state));
  }
  const saver = createChainSaver({ rpc, socketUrl: `ws://127.0.0.1:${port}`, file: state });
  return { rpcUrl, rpc, ended: program.ended, ...controls(saver, program.stop) };
}

function notStarted(words: string, state: string | false): string {
  const remedy = state ? ` If its state in ${state} is unusable, begin anew with: npm start -- --fresh` : '';
  return `The local chain did not start: ${words || 'it said nothing'}${remedy}`;
}

function controls(saver: ChainSaver, end: () => Promise<void>) {
  return {
    save: () => saver.save(),
    saveEveryBlock: () => saver.watch(),
    async stop() {
      await saver.close();
      await end();
    },
  };
}

// The program writes its sign once the port is its own: an answer alone may come from another chain that was
// quicker to take the port.
async function untilAnswering(rpc: ChainRpc, sign: string, ended: Promise<number>): Promise<boolean> {
  const deadline = Date.now() + 30_000;
  let running = true;
  void ended.then(() => {
    running = false;
  });
  while (running && Date.now() < deadline) {
    const chainId = existsSync(sign) ? await rpc.call('eth_chainId').catch(() => undefined) : undefined;
    if (chainId !== undefined) return true;
    await pause(15);
  }
  return false;
}
