import path from 'node:path';
import { type Balancer, balancerAddress, startBalancer } from './balancer.ts';
import { type Replica, startReplica } from './replica.ts';
import { until } from './until.ts';

export type Settings = Readonly<Record<string, string>>;
export type Role = 'api' | 'worker' | 'indexer';

/** How the replicas of callers run, if not as usual. */
export type ApiChange = {
  readonly settings?: Settings;
  readonly nodeOptions?: readonly string[];
  /** A program with its arguments that starts Node, such as `prlimit`. */
  readonly starter?: readonly string[];
};

type Options = {
  readonly folder: string;
  /** The folder with the files of the release that all begin with; of this one by default. */
  readonly release?: string;
  /** Asked whenever a process starts. */
  readonly settingsOf: (role: Role) => Settings;
};

/** The service as it is operated: two replicas of callers behind a balancer, a worker and an indexer. */
export type Fleet = {
  /** Where callers connect. */
  readonly port: number;
  readonly names: readonly string[];
  readonly replicas: () => readonly Replica[];
  readonly apis: () => readonly Replica[];
  /** Replaces the replicas of callers, where their settings or options differ from now on. */
  change(change: ApiChange | undefined): Promise<void>;
  /** Stops one process as an operator does, and starts another. @returns the old process, when the new process is ready */
  restart(name: string): Promise<Replica>;
  /**
   * Starts a process of a release in place of another, as operators do. The new process starts first. Then the old
   * process is taken out of the balancer, and stopped when all its requests are answered.
   * @param untilAnswered resolves when everything is answered that was sent until now
   */
  replace(name: string, release: string, untilAnswered: () => Promise<void>): Promise<void>;
  /** Starts those again that have ended. @returns what had ended, in words */
  revive(): Promise<string[]>;
  untilReady(): Promise<void>;
  /** Closes connections that only the balancer keeps. */
  dropIdle(): void;
  /** Lines of all logs that report what nobody handled. */
  unhandled(): string[];
  stop(): Promise<void>;
};

const names = ['api-1', 'api-2', 'worker', 'indexer'];
const roleOf = (name: string) => name.replace(/-\d$/, '') as Role; // of the names above
const thisRelease = path.join(import.meta.dirname, '../..');

export async function startFleet({ folder, release = thisRelease, settingsOf }: Options): Promise<Fleet> {
  const running = new Map<string, Replica>();
  const all: Replica[] = [];
  let change: ApiChange | undefined;
  const start = async (name: string, from: string) => {
    const role = roleOf(name);
    const { settings, ...how } = (role === 'api' && change) || {};
    const common = { ROLES: role, TRUSTED_PROXIES: balancerAddress, DRAIN_SECONDS: '1' };
    const replica = await startReplica({
      ...how,
      name,
      folder,
      release: from,
      settings: { ...common, ...settingsOf(role), ...settings },
    });
    all.push(replica);
    return replica;
  };
  const replicas = () => [...running.values()];
  const apis = () => replicas().filter(({ name }) => roleOf(name) === 'api');
  const startAll = async (chosen: readonly string[]) => {
    const started = await Promise.all(chosen.map((name) => start(name, release)));
    for (const replica of started) running.set(replica.name, replica);
  };
  await startAll(names);
  const balancer: Balancer = await startBalancer(apis().map(({ port }) => port));
  const lead = () => balancer.leadTo(apis().map(({ port }) => port));
  const untilReady = async () => {
    await until(() => apis().every(({ port }) => balancer.isReady(port)), 'replicas that are not ready');
  };
  const renew = async (chosen: readonly string[]) => {
    await Promise.all(chosen.map((name) => running.get(name)?.stop()));
    await startAll(chosen);
    lead();
    await untilReady();
  };
  await untilReady();
  return {
    port: balancer.port,
    names,
    replicas,
    apis,
    untilReady,
    dropIdle: balancer.dropIdle,
    async change(wanted) {
      if (wanted === undefined && change === undefined) return;
      change = wanted;
      await renew(apis().map(({ name }) => name));
    },
    async restart(name) {
      const old = running.get(name);
      if (old === undefined) throw new Error(`There is no process ${name}.`);
      await renew([name]);
      return old;
    },
    async replace(name, from, untilAnswered) {
      const before = running.get(name);
      const next = await start(name, from);
      if (roleOf(name) === 'api') {
        balancer.leadTo([...apis(), next].map(({ port }) => port));
        await until(() => balancer.isReady(next.port), 'a replica that is not ready');
      }
      running.set(name, next);
      lead();
      await untilAnswered();
      await before?.stop();
    },
    async revive() {
      const gone = replicas().filter((replica) => replica.ended() !== undefined);
      const words = gone.map((replica) => `${replica.name}: ${replica.ended()}`);
      await startAll(gone.map(({ name }) => name));
      lead();
      return words;
    },
    unhandled: () => all.flatMap((replica) => replica.unhandled()),
    async stop() {
      balancer.close();
      await Promise.all(replicas().map((replica) => replica.stop()));
    },
  };
}
