import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Balancer, balancerAddress, startBalancer } from './balancer.ts';
import { type Replica, startReplica } from './replica.ts';
import { asRole, type Role, type Surroundings } from './surroundings.ts';
import { worldKey } from './world.ts';

export type ServiceChange = {
  /** Settings of the replicas of callers, in place of the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  readonly starter?: readonly string[];
};

/** The service as it is operated: two replicas of callers behind a balancer, a worker and an indexer. */
export type RunningService = {
  readonly port: number;
  readonly replicas: () => readonly Replica[];
  readonly apis: () => readonly Replica[];
  /** Starts those anew that have ended. @returns what had ended, in words */
  revive(): Promise<string[]>;
  /** Replaces the replicas of callers, with other settings; without a change, by usual ones. */
  change(change: ServiceChange): Promise<void>;
  /** The settings of a process with this role. */
  settings(role: Role): Readonly<Record<string, string>>;
  restart(role: Role): Promise<void>;
  /** Ends one process as an operator does, and starts it anew. @returns the old one, when the new one is ready */
  renew(name: string): Promise<Replica>;
  untilReady(): Promise<void>;
  /** Lets go of connections that only the balancer holds. */
  dropIdle(): void;
  stop(): Promise<void>;
};

const members: readonly { name: string; role: Role }[] = [
  { name: 'api-1', role: 'api' },
  { name: 'api-2', role: 'api' },
  { name: 'worker', role: 'worker' },
  { name: 'indexer', role: 'indexer' },
];
const preloads = ['clock-shift', 'listener-count'].flatMap((name) => [
  '--import',
  `./scripts/load/${name}.ts`,
]);
const readyMs = 60_000;

export async function startRunningService(around: Surroundings): Promise<RunningService> {
  const running = new Map<string, Replica>();
  let change: ServiceChange = {};
  const start = async ({ name, role }: (typeof members)[number]) => {
    const isApi = role === 'api';
    const settings = { ...settingsFor(around, role), ...(isApi && change.settings) };
    const nodeOptions = [...preloads, ...((isApi && change.nodeOptions) || [])];
    const starter = (isApi && change.starter) || [];
    running.set(name, await startReplica({ name, folder: around.folder, settings, nodeOptions, starter }));
  };
  const replicas = () => [...running.values()];
  const apis = () => replicas().filter(({ name }) => name.startsWith('api'));
  await Promise.all(members.map(start));
  const balancer: Balancer = await startBalancer(apis().map(({ port }) => port));
  const replace = async (chosen: (typeof members)[number][]) => {
    await Promise.all(chosen.map(({ name }) => running.get(name)?.stop()));
    await Promise.all(chosen.map(start));
    balancer.leadTo(apis().map(({ port }) => port));
  };
  const untilReady = async () => {
    const deadline = performance.now() + readyMs;
    while (!apis().every(({ port }) => balancer.isReady(port))) {
      if (performance.now() > deadline) throw new Error('The replicas did not become ready.');
      await pause(100);
    }
  };
  await untilReady();
  return {
    port: balancer.port,
    ...{ replicas, apis, untilReady, dropIdle: balancer.dropIdle },
    async revive() {
      const gone = members.filter(({ name }) => running.get(name)?.ended() !== undefined);
      const words = gone.map(({ name }) => `${name}: ${running.get(name)?.ended()}`);
      await replace(gone);
      return words;
    },
    async change(wanted) {
      change = wanted;
      await replace(members.filter(({ role }) => role === 'api'));
      await untilReady();
    },
    settings: (role) => settingsFor(around, role),
    restart: (role) => replace(members.filter((member) => member.role === role)),
    async renew(name) {
      const [member] = members.filter((each) => each.name === name);
      const old = running.get(name);
      if (member === undefined || old === undefined) throw new Error(`There is no process ${name}.`);
      await replace([member]);
      await untilReady();
      return old;
    },
    async stop() {
      balancer.close();
      await Promise.all(replicas().map((replica) => replica.stop()));
    },
  };
}

/** The file with the milliseconds by which the calendars of all processes are shifted at SIGUSR2. */
export const clockFileOf = (folder: string) => path.join(folder, 'clock-shift');

function settingsFor(
  { folder, wire, postgres, signers, upstream }: Surroundings,
  role: Role,
): Record<string, string> {
  const key = `load:${worldKey.toString('base64')}`;
  return {
    ...{ ROLES: role, SECRET_KEYS: key, CURSOR_KEYS: key, DRAIN_SECONDS: '1' },
    CLOCK_SHIFT_FILE: clockFileOf(folder),
    LISTENER_COUNT_FOLDER: folder,
    DATABASE_URL: asRole(wire.through(postgres().url), role),
    // All callers come through the balancer, which names their addresses.
    TRUSTED_PROXIES: balancerAddress,
    MAX_CONNECTIONS_PER_ADDRESS: '5000',
    MORALIS_BASE_URL: upstream.baseUrl,
    MORALIS_API_KEY: upstream.apiKey,
    // Callers here wait for 15 s.
    REQUEST_DEADLINE_SECONDS: '12',
    MORALIS_TIMEOUT_MS: '5000',
    MORALIS_DEADLINE_MS: '10000',
    ...(role === 'worker' && signers.settings),
  };
}
