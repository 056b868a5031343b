import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Wallet } from 'ethers';
import { type CommandLine, commandLine, settingsFor } from '../cli/command-line.ts';
import { addRwa } from '../rwa/samples.ts';
import { asUser } from '../support/database.ts';
import { type MintChain, startMintChain, startMintService } from '../support/minting.ts';
import type { Flaw } from '../support/node/flaw.ts';
import { type Orphan, startOtherChain } from '../support/node/orphan.ts';
import { startWatchedNode, type WatchedNode } from '../support/node/watched-node.ts';
import { type RunningProcess, startProcess } from '../support/process.ts';
import type { TestService } from '../support/service.ts';
import { strain } from '../support/strain.ts';
import { describeMints } from './mint-report.ts';
import { type Judged, judgeEnd, judgeReasons, keepMining } from './settle.ts';
import type { WorkerTask } from './worker-process.ts';

/** A chain, a node that may lie in front of it, a service that accepts, and workers that may die. */
export type MintSetup = {
  readonly chain: MintChain;
  /** The first node of the network. */
  readonly node: WatchedNode;
  /** Proxies in front of the real node, each with its own flaws; the network has them all, unless told otherwise. */
  readonly nodes: readonly WatchedNode[];
  /** A sound node that the network does not have. */
  readonly spare: WatchedNode;
  /** The command line of an operator. */
  readonly cli: CommandLine;
  /** Makes these the nodes of the network, in this order. Workers that run notice it too. */
  useNodes(nodes: readonly WatchedNode[]): Promise<void>;
  readonly service: TestService;
  /** Another chain, on which the signers have sent transactions; started at the first call. */
  otherChain(): Promise<Orphan>;
  /** Brings a restored database up to the chain, as an operator does. @returns whether nothing is left to do */
  recover(): Promise<boolean>;
  /** Addresses that sign. */
  readonly signers: readonly string[];
  /** Accepts this many mints, of new NFTs and of issued ones by turns. @returns their ids */
  accept(count: number): Promise<string[]>;
  /** A worker process of its own. */
  work(
    killAt?: WorkerTask['killAt'],
    settings?: Readonly<Record<string, string>>,
    fixed?: WorkerTask['fixed'],
  ): RunningProcess;
  /** A worker process that has these keys only. */
  workAs(...keys: readonly string[]): RunningProcess;
  /** A worker process of another checkout of this project, such as the oldest release. */
  workFrom(folder: string): RunningProcess;
  /** Workers that run, the oldest first. */
  running(): readonly RunningProcess[];
  /** A block now and then, until told to stop. */
  keepMining(everyMs?: number): { stop(): void };
  /** Ends every worker that still runs. */
  killAll(): Promise<void>;
  /**
   * With an honest node, a worker and blocks: everything accepted must end as minted, once. Prices, raises and questions are
   * judged since a time.
   * @returns what is wrong; then everything that is known about it is on standard error
   */
  settle(ids: readonly string[], options?: Partial<Judged>): Promise<string[]>;
  /** With a worker and blocks: everything is minted, or stands still for a reason that is told. */
  reasons(ids: readonly string[]): ReturnType<typeof judgeReasons>;
  /** Rows, chain and workers, for people. */
  describe(ids: readonly string[]): Promise<Record<string, unknown>>;
  close(): Promise<void>;
};

const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/**
 * Creates a setup with one node without flaws. With `nodes`, the network has one for each item, in this order, with
 * these flaws: `[[standsStill(past)], []]` is a first node that stands still, and a second one that is sound.
 */
export async function createMintSetup(options: SetupOptions = {}): Promise<MintSetup> {
  const { minters = 1, postgresUrl, secondsBehind = 0, nodes: flaws = [[]] } = options;
  const chain = await startMintChain({ minters, secondsBehind });
  const nodes = await Promise.all(flaws.map((each) => startWatchedNode(chain.rpcUrl, ...each)));
  const spare = await startWatchedNode(chain.rpcUrl);
  const [node] = nodes;
  if (node === undefined) throw new Error('a network has one node at least');
  // Not so long that one silent answer takes all the time that a poll has for evidence.
  const timeout = { RPC_TIMEOUT_MS: String(Math.min(1_500, Math.round(500 * strain()))) };
  const service = await startMintService(chain, timeout, postgresUrl);
  const useNodes: MintSetup['useNodes'] = async (used) => {
    await service.db('networks').update({ rpc_urls: used.map(({ url }) => url) });
  };
  await useNodes(nodes);
  const workers = createWorkers(chain, service);
  const describe: MintSetup['describe'] = (ids) =>
    describeMints({ db: service.db, chain, nodes, workers: workers.started }, ids);
  const parts = { chain, nodes: [...nodes, spare], service };
  const begun = new Date();
  let other: Promise<Orphan> | undefined;
  const signers = chain.keys.map((key) => new Wallet(key).address);

  const operator = createOperator(service);
  /** With a worker, an operator, and nodes that no longer lie; their flaws stay. */
  const ready = async <T>(judging: () => Promise<T>, isHonest = true): Promise<T> => {
    for (const each of nodes) each.lie(undefined);
    // As a supervisor does: on a busy machine a worker may end because it has no connection in time.
    const supervise = () => {
      if (workers.running().length === 0) workers.work();
    };
    supervise();
    return operator.beside(judging, { isHonest, supervise });
  };
  return {
    chain,
    node,
    nodes,
    spare,
    cli: operator.cli,
    useNodes,
    service,
    signers,
    otherChain: () => (other ??= startOtherChain(signers)),
    recover: operator.recover,
    accept: await createAcceptance(chain, service),
    work: workers.work,
    workAs: workers.workAs,
    workFrom: workers.workFrom,
    running: workers.running,
    killAll: workers.killAll,
    keepMining: (everyMs) => keepMining(chain, everyMs),
    describe,
    async settle(ids, { since = begun, isPriceJudged = true, isConductJudged = true } = {}) {
      const found = await ready(() => judgeEnd(parts, ids, { since, isPriceJudged, isConductJudged }));
      if (found.length > 0) process.stderr.write(`${JSON.stringify(await describe(ids), null, 1)}\n`);
      return found;
    },
    reasons: (ids) => ready(() => judgeReasons(parts, ids), false),
    async close() {
      await workers.killAll();
      await service.close();
      await Promise.all(parts.nodes.map((each) => each.close()));
      await chain.close();
      await (await other)?.close();
    },
  };
}

type SetupOptions = {
  readonly minters?: number;
  /** How far the clock of the chain is behind. */
  readonly secondsBehind?: number;
  /** A server of its own, for tests that stop it; by default the one that all tests share. */
  readonly postgresUrl?: string;
  /** For each node of the network, the flaws that it has for good. */
  readonly nodes?: readonly (readonly Flaw[])[];
};

type Watch = {
  /** Whether no node deceives: an operator who knows that lets one alone say what is final. */
  readonly isHonest: boolean;
  /** Starts a worker where none runs. */
  readonly supervise: () => void;
};

/** Whoever runs the command line when lanes wait for a recovery. */
function createOperator({ databaseUrl, db, parts }: TestService) {
  const settings = {
    ...settingsFor(databaseUrl),
    SECRET_KEYS: secretKeys,
    RPC_TIMEOUT_MS: String(parts.config.RPC_TIMEOUT_MS),
  };
  const recover = async (more = {}): Promise<boolean> => {
    const { value } = await commandLine({ ...settings, ...more }).json('recover', '--apply');
    return value?.waiting === 0 && value.failed.length === 0;
  };
  const isCalled = async () => {
    const waiting = await db('mint_lanes').whereIn('pause_reason', ['recovery_needed', 'chain_rolled_back']);
    return waiting.length > 0 || (await db('mint_recoveries')).length > 0;
  };
  return {
    cli: commandLine(settings),
    recover,
    /**
     * Runs something, and meanwhile recovers as often as lanes ask for it.
     */
    async beside<T>(work: () => Promise<T>, { isHonest, supervise }: Watch): Promise<T> {
      const ended = new AbortController();
      const watching = (async () => {
        while (!ended.signal.aborted) {
          supervise();
          if (await isCalled()) await recover(isHonest ? { RPC_FINALITY_NODES: '1' } : {});
          await delay(operatorMs, undefined, { signal: ended.signal }).catch(() => {});
        }
      })();
      return work().finally(() => {
        ended.abort();
        return watching;
      });
    },
  };
}

const operatorMs = 500;

function createWorkers(chain: MintChain, service: TestService) {
  const started: RunningProcess[] = [];
  const over = new Set<RunningProcess>();
  const running = () => started.filter((worker) => !over.has(worker));

  const start = (task: WorkerTask, folder = '.'): RunningProcess => {
    const program = path.join(folder, 'test/minting/worker-process.ts');
    const process = startProcess([program, JSON.stringify(task)], {});
    started.push(process);
    process.ended.then(() => over.add(process));
    return process;
  };
  const taskOf = (
    settings: Readonly<Record<string, string>> = {},
    fixed: WorkerTask['fixed'] = {},
  ): WorkerTask => ({
    signers: chain.keys.map((privateKey) => ({ chainId: chain.chainId, privateKey })),
    settings: {
      // With the rights of a worker alone.
      DATABASE_URL: asUser(service.databaseUrl, 'test_worker'),
      SECRET_KEYS: secretKeys,
      AREAS: 'rwa',
      RPC_TIMEOUT_MS: String(service.parts.config.RPC_TIMEOUT_MS),
      LOG_LEVEL: 'warn',
      // Release 0.1.0, which `workFrom` starts, has these as settings.
      MINT_POLL_MS: '50',
      MINT_REBROADCAST_MS: '300',
      MINT_LEASE_SECONDS: '1',
      MINT_REFRESH_SECONDS: '1',
      ...settings,
    },
    fixed: {
      mintPollMs: 50,
      mintRebroadcastMs: 300,
      mintLeaseSeconds: 1,
      // Blocks come every 150 ms at most: longer than it takes to replace a transaction some times.
      mintStandstillSeconds: Math.round(8 * strain()),
      ...fixed,
    },
  });
  const work: MintSetup['work'] = (killAt, settings, fixed) =>
    start({ ...taskOf(settings, fixed), ...(killAt && { killAt }) });
  const workAs: MintSetup['workAs'] = (...keys) =>
    start({ ...taskOf(), signers: keys.map((privateKey) => ({ chainId: chain.chainId, privateKey })) });
  const workFrom: MintSetup['workFrom'] = (folder) =>
    // As its release had it: by the owner of the tables.
    start(taskOf({ DATABASE_URL: service.databaseUrl }), folder);

  const killAll = async () => {
    const all = running();
    for (const { child } of all) child.kill('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
  };
  return { started, running, work, workAs, workFrom, killAll };
}

// More would wait for their turn at the service.
const atOnce = 10;

async function createAcceptance(chain: MintChain, service: TestService): Promise<MintSetup['accept']> {
  const rwa = await addRwa(service.db, service.companies.acme, {
    isClaimable: true,
    contractAddress: chain.contract,
  });
  const client = service.as(service.keys.acme);
  /** As a client that is told to come again: with the same key, so that nothing is done twice. */
  const post = async (path: string, body: object) => {
    const key = randomUUID();
    for (let tries = 1; ; tries += 1) {
      const answer = await client.post(path).set('idempotency-key', key).send(body);
      if (answer.status === 200) return answer.body;
      if (answer.status !== 503 || tries === 20) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    }
  };
  const one = async (index: number): Promise<string> => {
    if (index % 2 === 0) return (await post(`/v1/api/rwa/${rwa.id}/mint`, {})).nftId;
    const [{ id, secret }] = (await post(`/v1/api/rwa/${rwa.id}/nfts`, { count: 1 })).nfts;
    await post(`/v1/api/nft/${id}/mint`, { secret });
    return id;
  };
  return async (count) => {
    const ids: string[] = [];
    while (ids.length < count) {
      const next = Array.from(
        { length: Math.min(atOnce, count - ids.length) },
        (_, index) => ids.length + index,
      );
      ids.push(...(await Promise.all(next.map(one))));
    }
    return ids;
  };
}
