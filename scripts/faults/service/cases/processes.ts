import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { requestText, startRawCallers } from '../../../load/raw-callers.ts';
import { clockFileOf } from '../../../load/service.ts';
import type { Fault, Stage } from '../fault.ts';
import { startGreedy } from '../greedy.ts';
import { filesLimit, runsWith } from '../proofs.ts';
import { hugePage, withHugeMetadata, withManyEvents } from './hoards.ts';
import { rollingRestart } from './rolling-restart.ts';

const killed = (name: string, about: string): Fault => ({
  ...{ name: `${name} killed`, about, seconds: 8, cuts: true },
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

const hourMs = 3_600_000;
const nearlyMs = 60_000;

/** The calendar of all processes jumps; that of the database stays. */
const clockJump = (name: string, about: string, ms: number): Fault => ({
  ...{ name, about, seconds: 10 },
  async begin({ service, around }) {
    const file = clockFileOf(around.folder);
    const shift = (value: number) => {
      writeFileSync(file, String(value));
      for (const { pid } of service.replicas()) process.kill(pid, 'SIGUSR2');
    };
    const wantedAt = Date.now() + ms;
    shift(ms);
    return async () => {
      const told = service.replicas().map(({ pid }) => Date.parse(readFileSync(`${file}-${pid}`, 'utf8')));
      shift(0);
      return { acted: told.every((at) => Math.abs(at - wantedAt) < nearlyMs) };
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
  async begin({ service }: Stage) {
    const ports = service.apis().map(({ port }) => port);
    const text = 'GET /docs HTTP/1.1\r\n';
    const callers = startRawCallers({ ports, connections: strangers, text, reads: true });
    return async () => {
      const areShort = service.apis().every((api) => filesLimit(api) === descriptorLimit);
      const { connected } = await callers.leave();
      return { acted: areShort && connected > strangers / 2 };
    };
  },
};

const heapMb = 96;
const heapOption = `--max-old-space-size=${heapMb}`;

/** What exhausts memory: pages of a hundred MB, and others of which nobody reads anything. */
const memory: Fault = {
  name: 'memory short',
  about: `a heap of ${heapMb} MB, while 24 callers ask for pages of 100 MB and more, and half of them do not read`,
  seconds: 15,
  change: () => ({ nodeOptions: [heapOption] }),
  async prepare(stage) {
    const db = stage.around.openDatabase();
    const cleans = [await withManyEvents(db, stage), await withHugeMetadata(db)];
    return async () => {
      for (const clean of cleans) await clean();
      await db.destroy();
    };
  },
  async begin(stage) {
    const { service, around } = stage;
    const text = requestText('/events/v1/api/event', around.world.acme.otherKey);
    const ports = service.apis().map(({ port }) => port);
    const unread = startRawCallers({ ports, connections: 12, text, reads: false });
    const stop = startGreedy(stage, { method: 'GET', callers: 12, path: hugePage });
    return async () => {
      const { asked } = await stop();
      const { connected } = await unread.leave();
      const acted = asked > 12 && connected === 12;
      return { acted: acted && service.apis().every((api) => runsWith(api, heapOption)) };
    };
  },
};

export const processFaults: readonly Fault[] = [
  killed('api-1', 'one of two replicas, by SIGKILL; back after 8 s'),
  killed('worker', 'by SIGKILL; back after 8 s'),
  killed('indexer', 'by SIGKILL; back after 8 s'),
  rollingRestart,
  descriptors,
  memory,
  clockJump('clock an hour ahead', 'of all processes, and back', hourMs),
  clockJump('clock an hour behind', 'of all processes, and back', -hourMs),
];
