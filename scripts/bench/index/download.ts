import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';

// A process of its own: reads blocks, receipts and traces of a node over kept connections and does nothing with them.
// Its only line names the milliseconds and the bytes.
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    first: { type: 'string', default: '' },
    last: { type: 'string', default: '' },
    parallel: { type: 'string', default: '' },
    traces: { type: 'boolean', default: false },
  },
});
const agent = new Agent({ keepAlive: true });

/** @returns how many bytes came */
function ask(method: string, params: readonly unknown[]): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const asked = request(values.url, { method: 'POST', headers, agent, timeout: 30_000 }, (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      response.once('end', () => resolve(bytes)).once('error', reject);
    });
    asked.once('error', reject);
    asked.once('timeout', () => asked.destroy(new Error(`no answer to ${method}`)));
    asked.end(body);
  });
}

let next = Number(values.first);
let bytes = 0;
async function lane(): Promise<void> {
  while (next <= Number(values.last)) {
    const number = `0x${(next++).toString(16)}`;
    const answers = await Promise.all([
      ask('eth_getBlockByNumber', [number, true]),
      ask('eth_getBlockReceipts', [number]),
      ...(values.traces ? [ask('trace_block', [number])] : []),
    ]);
    for (const size of answers) bytes += size;
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: Number(values.parallel) }, lane));
process.stdout.write(`${JSON.stringify({ milliseconds: performance.now() - started, bytes })}\n`);
agent.destroy();
