import { spawnSync } from 'node:child_process';
import { requestText, startNoise } from '../../../load/noise.ts';
import type { Fault } from '../fault.ts';
import { readProc } from '../figures.ts';
import { withManyEvents } from './many-events.ts';

const killed = (name: string, about: string): Fault => ({
  name: `${name} killed`,
  about,
  seconds: 8,
  cuts: true,
  async begin({ service }) {
    const replica = service.replicas().find((each) => each.name === name);
    await replica?.kill('SIGKILL');
    return async () => {
      await service.revive();
      await service.untilReady();
      return { acted: replica?.ended() === 'SIGKILL' };
    };
  },
});

const descriptorLimit = 120;
const strangers = 400;
const hasPrlimit = () => spawnSync('prlimit', ['--version']).status === 0;

const descriptors: Fault = {
  name: 'descriptors short',
  about: `${descriptorLimit} for a process, and a stranger opens ${strangers / 2} connections`,
  seconds: 10,
  change: () => ({ starter: ['prlimit', `--nofile=${descriptorLimit}:${descriptorLimit}`] }),
  missing: () => (hasPrlimit() ? undefined : 'there is no prlimit'),
  async begin({ service }) {
    const text = 'GET /docs HTTP/1.1\r\n';
    const leave = startNoise(service.apis(), { connections: strangers, text, reads: true });
    const limits = new RegExp(`^Max open files\\s+${descriptorLimit}\\s`, 'm');
    return async () => {
      const areShort = service.apis().every((api) => limits.test(readProc(api, 'limits')));
      const { connected } = await leave();
      return { acted: areShort && connected > strangers / 2 };
    };
  },
};

const heapMb = 96;
const heapOption = `--max-old-space-size=${heapMb}`;
const half = 12;

const memory: Fault = {
  name: 'memory short',
  about: `a heap of ${heapMb} MB, while ${2 * half} callers ask for lists of 150 MB, and half of them do not read`,
  seconds: 15,
  change: () => ({ nodeOptions: [heapOption] }),
  prepare: withManyEvents,
  async begin({ service, world: { acme } }) {
    const path = '/events/v1/api/event';
    const text = requestText(path, acme.otherKey);
    const leaveUnread = startNoise(service.apis(), { connections: half, text, reads: false });
    const leave = startNoise(service.apis(), { callers: half, path, key: acme.otherKey });
    return async () => {
      const [{ connected }, { asked }] = [await leaveUnread(), await leave()];
      const areShort = service.apis().every((api) => readProc(api, 'cmdline').includes(heapOption));
      return { acted: areShort && asked >= half && connected === half };
    };
  },
};

export const processFaults: readonly Fault[] = [
  killed('api-1', 'one of two replicas, by SIGKILL; back after 8 s'),
  killed('worker', 'by SIGKILL; back after 8 s'),
  killed('indexer', 'by SIGKILL; back after 8 s'),
  descriptors,
  memory,
];
