import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../../src/base/log.ts';
import { createOutgoing, type Outgoing } from '../../../src/outgoing/outgoing.ts';
import { type OutgoingAnswer, OutgoingFault } from '../../../src/outgoing/outgoing-fault.ts';
import { type Call, type Flaw, type Pass, type Reply, withFlaws } from '../../support/node/flaw.ts';

/** A node of the network. Its flaws stay; a lie is for a time. */
type SimulatedNode = {
  readonly url: string;
  /** A sound view of a chain. */
  readonly view: Pass;
  flaws: readonly Flaw[];
  lie: Flaw | undefined;
  /** How long it takes for an answer. */
  readonly ms: number;
  /** Questions that it was asked. */
  asked: number;
};

export type Nodes = {
  readonly all: SimulatedNode[];
  ask(url: string, call: Call): Promise<Reply>;
};

/** What nodes are given, whatever they do with it, and the words with which they reject it. */
type Watch = { note(raw: string): void; noteRefusal(raw: string, words: string): void };

export function createNodes(watch: Watch): Nodes {
  const all: SimulatedNode[] = [];
  return {
    all,
    async ask(url, call) {
      const node = all.find((each) => each.url === url);
      if (node === undefined) return 'drop';
      node.asked += 1;
      const raw = call.method === 'eth_sendRawTransaction' ? String(call.params[0]) : undefined;
      if (raw !== undefined) watch.note(raw);
      if (node.ms > 0) await wait(node.ms);
      const flaws = node.lie === undefined ? node.flaws : [node.lie, ...node.flaws];
      const reply = await withFlaws(flaws, node.view)(call);
      if (raw !== undefined && typeof reply === 'object' && 'error' in reply && reply.error)
        watch.noteRefusal(raw, reply.error.message);
      return reply;
    },
  };
}

type WayOutOptions = {
  readonly nodes: Nodes;
  readonly log: Logger;
  readonly now: () => number;
  /** Counts a question, or its answer. @returns false when the process has died */
  readonly spend: () => boolean;
  /** Resolves when the process no longer stands still. */
  readonly thawed: () => Promise<void>;
};

/** The way out of a process, with deadlines and breakers as they are. It ends at the simulated nodes. */
export function createWayOut({ nodes, log, now, spend, thawed }: WayOutOptions): Outgoing {
  const real = createOutgoing({ log, now });
  const ask = async (url: string, body: string, signal: AbortSignal): Promise<OutgoingAnswer> => {
    const call: Call = JSON.parse(body);
    const lost = () => new OutgoingFault('unreachable', 'the connection was lost');
    await thawed();
    if (!spend()) throw lost();
    const reply = await Promise.resolve(nodes.ask(url, call)).catch(() => 'drop' as const);
    await thawed();
    if (!spend() || reply === 'drop') throw lost();
    if (reply === 'hang') return untilEnd(signal);
    if ('status' in reply) return { status: reply.status, headers: {}, text: String(reply.body ?? '{}') };
    const { result = null, error } = reply;
    const answer = { jsonrpc: '2.0', id: call.id, ...(error ? { error } : { result }) };
    return { status: 200, headers: {}, text: JSON.stringify(answer) };
  };
  return {
    ...real,
    open(options) {
      const { label } = options;
      const callee = real.open({ ...options, probe: (signal) => ask(urlIn(label), chainIdQuestion, signal) });
      return {
        ...callee,
        send: ({ url, body = '{}' }, within) =>
          callee.call((signal) => ask(url.href.replace(/\/$/, ''), body, signal), within),
      };
    },
  };
}

const chainIdQuestion = '{"jsonrpc":"2.0","id":0,"method":"eth_chainId","params":[]}';

/** The label of a node is the id of its chain and its URL. */
const urlIn = (label: string) => label.replace(/^\d+ /, '').replace(/\/$/, '');

function untilEnd(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
