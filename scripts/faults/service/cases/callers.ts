import { setTimeout as pause } from 'node:timers/promises';
import { generateKey } from '../../../../src/keys/key-format.ts';
import { createCaller } from '../../../load/caller.ts';
import { requestText, startRawCallers, strangerAddress } from '../../../load/raw-callers.ts';
import { startLoad } from '../../../load/steady-load.ts';
import type { Fault, Stage } from '../fault.ts';

// The largest page that needs no key.
const largePage = '/docs/rwa';
const portsOf = ({ service }: Stage) => service.apis().map(({ port }) => port);

const slowReaders: Fault = {
  name: 'slow readers',
  about: '300 callers ask for large pages and do not read',
  seconds: 35,
  async begin(stage) {
    // More than the kernel keeps for them on both sides.
    const text = requestText(largePage).repeat(60);
    const callers = startRawCallers({ ports: portsOf(stage), connections: 300, text, reads: false });
    return async () => {
      const note = `${callers.blocked()} of 300 still held with what they do not take`;
      callers.leave();
      return { note };
    };
  },
};

const slowSenders: Fault = {
  name: 'slow senders',
  about: '300 callers never end their request',
  seconds: 20,
  async begin(stage) {
    const text = requestText(largePage).slice(0, -2);
    const callers = startRawCallers({ ports: portsOf(stage), connections: 300, text, reads: true });
    return async () => {
      const note = `${callers.open()} of 300 still open`;
      callers.leave();
      return { note };
    };
  },
};

const abandonedPipelines: Fault = {
  name: 'abandoned pipelines',
  about: '10 callers at a time send 100 requests at once and leave',
  seconds: 10,
  async begin(stage) {
    const text = requestText(largePage).repeat(100);
    let isOver = false;
    const attack = async () => {
      while (!isOver) {
        const callers = startRawCallers({ ports: portsOf(stage), connections: 10, text, reads: false });
        await pause(500);
        callers.leave();
      }
    };
    const attacking = attack();
    return async () => {
      isOver = true;
      await attacking;
      return {};
    };
  },
};

/** A flood from one address, beside the load. */
const flood = (name: string, about: string, keyOf: (stage: Stage) => () => string | undefined): Fault => ({
  ...{ name, about, seconds: 10 },
  async begin(stage) {
    const nextKey = keyOf(stage);
    const { port } = stage.service;
    const caller = createCaller({
      port,
      company: 'stranger',
      key: undefined,
      address: strangerAddress,
      deadlineMs: 15_000,
    });
    const next = () => {
      const key = nextKey();
      const headers = key === undefined ? {} : { 'x-api-key': key };
      return { kind: 'flood', method: 'GET' as const, path: '/events/v1/api/event?limit=20', headers };
    };
    const load = startLoad({ callers: [caller], next, perSecond: floodPerSecond });
    return async () => {
      await load.stop();
      caller.close();
      const refused = load.answers.filter(({ detail }) => detail.startsWith('429')).length;
      return { note: `${refused} of ${load.answers.length} refused by 429` };
    };
  },
});

const floodPerSecond = 300;

export const callerFaults: readonly Fault[] = [
  slowReaders,
  slowSenders,
  abandonedPipelines,
  flood('flood without keys', `${floodPerSecond} requests a second`, () => () => undefined),
  flood('flood with invented keys', `${floodPerSecond} requests a second`, () => () => generateKey('live')),
  flood(
    'flood with a key',
    `${floodPerSecond} requests a second of one company`,
    ({ around }) =>
      () =>
        around.world.acme.otherKey,
  ),
];
