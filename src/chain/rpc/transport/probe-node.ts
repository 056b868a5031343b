import { redactUrl } from '../../../base/log.ts';
import { createOutgoing } from '../../../outgoing/outgoing.ts';
import { NodeFault } from './node-fault.ts';
import { openTransport } from './open-transport.ts';
import { quantity, readQuantity } from './quantity.ts';
import type { Transport } from './transport.ts';

/** What a node gives in addition to what every node gives. */
export type NodeAbilities = {
  /** When its newest block was made, in seconds since 1970; undefined when it does not say. */
  readonly headTime: bigint | undefined;
  /** Its finalized block; undefined when it knows of none. */
  readonly finalized: bigint | undefined;
  /** The method by which it gives the traces of its newest block; undefined when by none. */
  readonly traces: 'trace_block' | 'debug_traceBlockByNumber' | undefined;
  /** Of how many blocks the node gives logs at once, among the tried numbers; 0 when it gives none. */
  readonly logBlocks: number;
};

// The traces of a full block of a busy network.
const maxBytes = 64 * 1024 * 1024;

// Nothing has this topic, so the answers are empty.
const noTopic = `0x${'0'.repeat(63)}1`;

/**
 * Tries what a node that serves its network gives.
 * @throws NodeFault when it does not answer
 */
export async function probeNode(url: string, timeoutMs: number): Promise<NodeAbilities> {
  const transport = openTransport(url, { outgoing: createOutgoing(), label: redactUrl(url) });
  const ask = (method: string, params: readonly unknown[]) =>
    resultOf(transport, method, params, { timeoutMs, maxBytes });
  try {
    const [latest, final] = await Promise.all([
      ask('eth_getBlockByNumber', ['latest', false]),
      ask('eth_getBlockByNumber', ['finalized', false]),
    ]);
    const head = quantityOf(latest, 'number') ?? 0n;
    const at = quantity(head);
    const hasTraces = Array.isArray(await ask('trace_block', [at]));
    const hasDebug =
      !hasTraces && Array.isArray(await ask('debug_traceBlockByNumber', [at, { tracer: 'callTracer' }]));
    return {
      headTime: quantityOf(latest, 'timestamp'),
      finalized: quantityOf(final, 'number'),
      traces: hasTraces ? 'trace_block' : hasDebug ? 'debug_traceBlockByNumber' : undefined,
      logBlocks: await logBlocksOf(head, (range) => ask('eth_getLogs', [{ ...range, topics: [noTopic] }])),
    };
  } finally {
    transport.close();
  }
}

type Range = { readonly fromBlock: string; readonly toBlock: string };

async function logBlocksOf(head: bigint, ask: (range: Range) => Promise<unknown>): Promise<number> {
  for (const blocks of [10_000, 1_000, 100, 10, 1]) {
    const from = head - BigInt(blocks) + 1n;
    const range = { fromBlock: quantity(from < 0n ? 0n : from), toBlock: quantity(head) };
    if (Array.isArray(await ask(range))) return blocks;
  }
  return 0;
}

/** @returns undefined when the node answers with an error, or more than anybody reads, or not in time */
async function resultOf(
  transport: Transport,
  method: string,
  params: readonly unknown[],
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<unknown> {
  try {
    const answer = await transport.ask(method, params, limits);
    return 'error' in answer ? undefined : answer.result;
  } catch (error) {
    // A provider may reject one method by an HTTP status.
    if (error instanceof NodeFault && error.reason !== 'unreachable') return undefined;
    throw error;
  }
}

function quantityOf(block: unknown, field: 'number' | 'timestamp'): bigint | undefined {
  if (typeof block !== 'object' || block === null) return undefined;
  return readQuantity(Object.entries(block).find(([name]) => name === field)?.[1]);
}
