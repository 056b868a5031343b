import { type Balancer, balancerAddress, startBalancer } from '../load/balancer.ts';
import { type Replica, startReplica } from '../load/replica.ts';
import { until } from './upgrade-load.ts';

type Settings = Readonly<Record<string, string>>;

type Options = {
  readonly folder: string;
  /** The folder with the files of the release that all begin with. */
  readonly release: string;
  readonly settings: Settings;
  /** Settings of workers beside these. */
  readonly signers: Settings;
};

/** Two replicas of callers behind a balancer, a worker and an indexer. */
export type Fleet = {
  /** Where callers connect. */
  readonly port: number;
  readonly names: readonly string[];
  /** Settings of processes that start from now on, in place of those of the same name. */
  configure(changes: { readonly settings?: Settings; readonly signers?: Settings }): void;
  /**
   * Starts a process of a release in place of one, as operators do: the new one first, then the old one is taken out of
   * the balancer, and stopped when all that it was sent is answered.
   * @param untilAnswered resolves when everything is answered that was sent until now
   */
  replace(name: string, release: string, untilAnswered: () => Promise<void>): Promise<void>;
  /** Lines of all logs that tell of what nobody handled. */
  unhandled(): string[];
  stop(): Promise<void>;
};

const roleOf = (name: string) => name.replace(/-\d$/, '');

export async function startFleet({ folder, release, settings, signers }: Options): Promise<Fleet> {
  const present = { settings, signers };
  const names = ['api-1', 'api-2', 'worker', 'indexer'];
  const running = new Map<string, Replica>();
  const all: Replica[] = [];
  const start = async (name: string, from: string) => {
    const role = roleOf(name);
    const own = { ROLES: role, TRUSTED_PROXIES: balancerAddress, DRAIN_SECONDS: '1' };
    const replica = await startReplica({
      ...{ name, folder, release: from },
      settings: { ...present.settings, ...own, ...(role === 'worker' && present.signers) },
    });
    all.push(replica);
    return replica;
  };
  const apis = () => [...running].filter(([name]) => roleOf(name) === 'api').map(([, { port }]) => port);
  for (const name of names) running.set(name, await start(name, release));
  const balancer: Balancer = await startBalancer(apis());
  await until(async () => apis().every((port) => balancer.isReady(port)), 'replicas that are not ready');
  return {
    port: balancer.port,
    names,
    configure(changes) {
      present.settings = { ...present.settings, ...changes.settings };
      present.signers = { ...present.signers, ...changes.signers };
    },
    async replace(name, from, untilAnswered) {
      const before = running.get(name);
      const next = await start(name, from);
      if (roleOf(name) === 'api') {
        balancer.leadTo([...apis(), next.port]);
        await until(async () => balancer.isReady(next.port), 'a replica that is not ready');
      }
      running.set(name, next);
      balancer.leadTo(apis());
      await untilAnswered();
      await before?.stop();
    },
    unhandled: () => all.flatMap((replica) => replica.unhandled()),
    async stop() {
      balancer.close();
      await Promise.all([...running.values()].map((replica) => replica.stop()));
    },
  };
}
