import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { startRawCallers } from '../../../load/raw-callers.ts';
import { clockFileOf } from '../../../load/service.ts';
import type { Fault, Stage } from '../fault.ts';

const killed = (name: string, about: string): Fault => ({
  ...{ name: `${name} killed`, about, seconds: 8, cuts: true },
  async begin({ service }) {
    await service
      .replicas()
      .find((replica) => replica.name === name)
      ?.kill('SIGKILL');
    return async () => {
      await service.revive();
      await service.untilReady();
      return {};
    };
  },
});

const hourMs = 3_600_000;

/** The calendar of all processes jumps; that of the database stays. */
const clockJump = (name: string, about: string, ms: number): Fault => ({
  ...{ name, about, seconds: 10 },
  async begin({ service, around }) {
    const shift = (value: number) => {
      writeFileSync(clockFileOf(around.folder), String(value));
      for (const { pid } of service.replicas()) process.kill(pid, 'SIGUSR2');
    };
    shift(ms);
    return async () => {
      shift(0);
      return {};
    };
  },
});

const descriptorLimit = 120;
const hasPrlimit = () => spawnSync('prlimit', ['--version']).status === 0;

const descriptors: Fault = {
  name: 'descriptors short',
  about: `${descriptorLimit} for a process, and a stranger opens 200 connections`,
  seconds: 10,
  change: () => ({ starter: ['prlimit', `--nofile=${descriptorLimit}:${descriptorLimit}`] }),
  missing: () => (hasPrlimit() ? undefined : 'there is no prlimit'),
  async begin({ service }: Stage) {
    const ports = service.apis().map(({ port }) => port);
    const callers = startRawCallers({ ports, connections: 400, text: 'GET /docs HTTP/1.1\r\n', reads: true });
    return async () => {
      callers.leave();
      return {};
    };
  },
};

export const processFaults: readonly Fault[] = [
  killed('api-1', 'one of two replicas, by SIGKILL; back after 8 s'),
  killed('worker', 'by SIGKILL; back after 8 s'),
  killed('indexer', 'by SIGKILL; back after 8 s'),
  descriptors,
  {
    name: 'memory short',
    about: 'a heap of 96 MB',
    seconds: 10,
    change: () => ({ nodeOptions: ['--max-old-space-size=96'] }),
    begin: async () => async () => ({}),
  },
  clockJump('clock an hour ahead', 'of all processes, and back', hourMs),
  clockJump('clock an hour behind', 'of all processes, and back', -hourMs),
];
