import { rename, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { ChainRpc } from './chain-rpc.ts';

export type ChainSaver = {
  save(): Promise<void>;
  /** From now on saves after each new block. */
  watch(): void;
  /** Ends the watch and waits for a write in progress. */
  close(): Promise<void>;
};

type SaverOptions = { readonly rpc: ChainRpc; readonly socketUrl: string; readonly file: string };

const inflate = promisify(gunzip);

/**
 * Writes the chain's state to a file: the whole state each time, complete or not at all. All blocks that arrive
 * during a write are saved by one further write, so the work stays bounded however fast blocks arrive.
 */
export function createChainSaver({ rpc, socketUrl, file }: SaverOptions): ChainSaver {
  let running: Promise<void> | undefined;
  let again = false;
  let socket: WebSocket | undefined;

  const write = async () => {
    const dump = String(await rpc.call('anvil_dumpState'));
    const state = await inflate(Buffer.from(dump.slice(2), 'hex'));
    await writeFile(`${file}.part`, state, { mode: 0o600 });
    await rename(`${file}.part`, file);
  };

  const save = async (): Promise<void> => {
    again = true;
    running ??= (async () => {
      while (again) {
        again = false;
        await write();
      }
    })().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    save,
    watch() {
      socket = new WebSocket(socketUrl);
      const request = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] };
      socket.addEventListener('open', () => socket?.send(JSON.stringify(request)));
      // A failed save loses nothing: the next block and the end of the chain save the whole state again.
      socket.addEventListener('message', () => void save().catch(() => {}));
    },
    async close() {
      socket?.close();
      again = false;
      await running?.catch(() => {});
    },
  };
}
