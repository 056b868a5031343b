import { parseArgs } from 'node:util';
import { createAskNode } from './ask-node.ts';

// A process of its own: reads blocks, receipts and traces of a node and does nothing with them. With --parse it parses the
// answers for some of them instead. Its only line tells the milliseconds, those of its core, and the bytes.
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    first: { type: 'string', default: '' },
    last: { type: 'string', default: '' },
    parallel: { type: 'string', default: '' },
    traces: { type: 'boolean', default: false },
    parse: { type: 'boolean', default: false },
  },
});
const [first, last] = [Number(values.first), Number(values.last)];
const node = createAskNode(values.url, values.traces);

async function download(): Promise<number> {
  let next = first;
  let bytes = 0;
  const lane = async () => {
    while (next <= last) bytes += await node.block(next++);
  };
  await Promise.all(Array.from({ length: Number(values.parallel) }, lane));
  return bytes;
}

const samples = 100;

/** Answers for blocks from all over the chain. */
async function readSome(): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  const step = (last - first) / (samples - 1);
  for (let index = 0; index < samples; index += 1)
    await node.block(Math.round(first + index * step), (body) => bodies.push(body));
  return bodies;
}

function parseAll(bodies: readonly Buffer[]): number {
  let bytes = 0;
  for (const body of bodies) {
    JSON.parse(body.toString('utf8'));
    bytes += body.length;
  }
  return bytes;
}

const bodies = values.parse ? await readSome() : [];
parseAll(bodies);
const [started, before] = [performance.now(), process.cpuUsage()];
const bytes = values.parse ? parseAll(bodies) : await download();
const [milliseconds, used] = [performance.now() - started, process.cpuUsage(before)];
const cpuMs = (used.user + used.system) / 1_000;
const blocks = values.parse ? samples : last - first + 1;
process.stdout.write(`${JSON.stringify({ milliseconds, cpuMs, bytes, blocks })}\n`);
node.close();
