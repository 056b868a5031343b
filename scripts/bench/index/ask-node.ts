import { Agent, request } from 'node:http';

export type AskNode = {
  /** Asks for all that an index needs of a block. @param onBody gets the pieces of each answer, which are dropped without it */
  block(number: number, onBody?: (body: Buffer) => void): Promise<number>;
  close(): void;
};

/** Asks a node over kept connections. Answers are counted in bytes. */
export function createAskNode(url: string, withTraces: boolean): AskNode {
  const agent = new Agent({ keepAlive: true });
  const ask = (method: string, params: readonly unknown[], onBody?: (body: Buffer) => void) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return new Promise<number>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const asked = request(url, { method: 'POST', headers, agent, timeout: 30_000 }, (response) => {
        const pieces: Buffer[] = [];
        let bytes = 0;
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (onBody !== undefined) pieces.push(piece);
        });
        response.once('end', () => {
          onBody?.(Buffer.concat(pieces));
          resolve(bytes);
        });
        response.once('error', reject);
      });
      asked.once('error', reject);
      asked.once('timeout', () => asked.destroy(new Error(`no answer to ${method}`)));
      asked.end(body);
    });
  };
  return {
    async block(block, onBody) {
      const number = `0x${block.toString(16)}`;
      const answers = await Promise.all([
        ask('eth_getBlockByNumber', [number, true], onBody),
        ask('eth_getBlockReceipts', [number], onBody),
        ...(withTraces ? [ask('trace_block', [number], onBody)] : []),
      ]);
      return answers.reduce((sum, size) => sum + size, 0);
    },
    close: () => agent.destroy(),
  };
}
