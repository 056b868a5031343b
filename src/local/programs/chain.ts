import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type ChainRpc, createChainRpc } from './chain-rpc.ts';
import { createChainSaver } from './chain-saver.ts';
import { LocalError } from './local-error.ts';
import { anvilProgram } from './packaged-programs.ts';
import { startSupervised, untilReady } from './supervisor.ts';

/** The id that developers' tools and wallets use for a local chain. */
export const localChainId = '31337';

export type LocalChain = {
  readonly rpcUrl: string;
  readonly rpc: ChainRpc;
  readonly ended: Promise<number>;
  /** Resolves when the present state is on the disk. */
  save(): Promise<void>;
  /** From now on saves after each new block. */
  saveEveryBlock(): void;
  stop(): Promise<void>;
};

export type ChainOptions = {
  /** Contains the state; created if it is missing. */
  readonly folder: string;
  readonly port: number;
  /** Time of the first block of a new chain, in seconds since 1970. */
  readonly genesisTime: number;
};

/** The file by which a running chain of the folder is recognised. */
export const exitStateFile = (folder: string) => path.join(folder, 'state.exit.json');
const stateFile = (folder: string) => path.join(folder, 'state.json');

export const hasState = (folder: string) => existsSync(stateFile(folder));

// Blocks are mined on demand, with transactions in the order of their arrival. The depth of finality is 0: the
// network has 1 confirmation and no other writer, and after a restart only the state of the last block is known.
// History is bounded: transactions of the last 5,000 blocks with any (2 KB each in the file), and the state after
// each of the last 128 blocks.
const flags = [
  '--quiet',
  ...['--host', '127.0.0.1'],
  ...['--chain-id', localChainId],
  ...['--order', 'fifo'],
  ...['--slots-in-an-epoch', '0'],
  ...['--transaction-block-keeper', '5000'],
  ...['--prune-history', '128'],
];

/**
 * Starts the chain of a folder where it stopped, or a new chain. The chain ends with this process, whatever ends it,
 * and then writes its state.
 * @throws LocalError when it does not start
 */
export async function startLocalChain({ folder, port, genesisTime }: ChainOptions): Promise<LocalChain> {
  mkdirSync(folder, { recursive: true });
  const state = stateFile(folder);
  const logFile = path.join(folder, 'chain.log');
  const sign = path.join(folder, 'started.json');
  rmSync(sign, { force: true });
  const begin = hasState(folder) ? ['--load-state', state] : ['--timestamp', String(genesisTime)];
  const files = ['--config-out', sign, '--dump-state', exitStateFile(folder)];
  await using starting = new AsyncDisposableStack();
  const program = starting.adopt(
    startSupervised({
      command: anvilProgram(),
      args: [...flags, '--port', String(port), ...begin, ...files],
      logFile,
      moveAtEnd: { from: exitStateFile(folder), to: state },
    }),
    (running) => running.stop(),
  );
  const rpcUrl = `http://127.0.0.1:${port}`;
  const rpc = createChainRpc(rpcUrl);
  // The program writes the file `sign` once it listens. An answer alone proves nothing: it may come from another
  // chain that took the port first.
  const isAnswering = async () =>
    existsSync(sign) && (await rpc.call('eth_chainId').catch(() => undefined)) !== undefined;
  if (!(await untilReady(program, isAnswering))) {
    // Its log is complete when it has ended.
    await program.stop();
    throw new LocalError(notStarted(readFileSync(logFile, 'utf8').trim(), hasState(folder) && state));
  }
  const saver = starting.adopt(
    createChainSaver({ rpc, socketUrl: `ws://127.0.0.1:${port}`, file: state }),
    (running) => running.close(),
  );
  const running = starting.move();
  return {
    rpcUrl,
    rpc,
    ended: program.ended,
    save: () => saver.save(),
    saveEveryBlock: () => saver.watch(),
    stop: () => running.disposeAsync(),
  };
}

function notStarted(words: string, state: string | false): string {
  const remedy = state ? ` If its state in ${state} is unusable, start again with: npm start -- --fresh` : '';
  return `The local chain did not start: ${words || 'it said nothing'}${remedy}`;
}
