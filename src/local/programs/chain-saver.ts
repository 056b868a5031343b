import { rename, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { ChainRpc } from './chain-rpc.ts';

export type ChainSaver = {
  save(): Promise<void>;
  /** Saves after each new block, as soon as the node tells of it. */
  watch(): void;
  close(): Promise<void>;
};

type SaverOptions = { readonly rpc: ChainRpc; readonly socketUrl: string; readonly file: string };

const inflate = promisify(gunzip);

/**
 * Writes the chain's state to a file: the whole state each time, complete or not at all. While one is being
 * written, new blocks wait for one more, so however fast they come the work is bounded.
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
      // A failed save is no loss: the next block saves all, and so does the end of the chain.
      socket.addEventListener('message', () => void save().catch(() => {}));
    },
    async close() {
      socket?.close();
      again = false;
      await running?.catch(() => {});
    },
  };
}
