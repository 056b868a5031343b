import { addRwa } from '../rwa/samples.ts';
import { type LyingNode, startLyingNode } from '../support/lying-node.ts';
import {
  faults,
  type MintChain,
  startMintChain,
  startMintService,
  until,
  untilAll,
} from '../support/minting.ts';
import { type RunningProcess, startProcess } from '../support/process.ts';
import type { TestService } from '../support/service.ts';
import type { WorkerTask } from './worker-process.ts';

/** A chain, a node that may lie in front of it, a service that accepts, and workers that may die. */
export type MintWorld = {
  readonly chain: MintChain;
  readonly node: LyingNode;
  readonly service: TestService;
  /** Accepts this many mints, of new NFTs and of issued ones by turns. @returns their ids */
  accept(count: number): Promise<string[]>;
  /** A worker process of its own. */
  work(killAt?: WorkerTask['killAt'], settings?: Readonly<Record<string, string>>): RunningProcess;
  /** A block now and then, until told to stop. */
  keepMining(everyMs?: number): { stop(): void };
  /** Ends every worker that still runs. */
  killAll(): Promise<void>;
  /** With an honest node, a worker and blocks: everything accepted must end as minted, once. */
  settle(ids: readonly string[], expected?: { readonly lost: number }): Promise<string[]>;
  close(): Promise<void>;
};

const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`;

export async function createMintWorld({ minters = 1 } = {}): Promise<MintWorld> {
  const chain = await startMintChain({ minters });
  const node = await startLyingNode(chain.rpcUrl);
  const service = await startMintService(chain, { RPC_TIMEOUT_MS: '500' });
  await service.db('networks').update({ rpc_urls: [node.url] });
  const rwa = await addRwa(service.db, service.companies.acme, {
    isClaimable: true,
    contractAddress: chain.contract,
  });
  const client = service.as(service.keys.acme);
  const running = new Set<RunningProcess>();

  const one = async (index: number): Promise<string> => {
    if (index % 2 === 0) {
      const { body } = await client.post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200);
      return body.nftId;
    }
    const { body } = await client.post(`/v1/api/rwa/${rwa.id}/nfts`).send({ count: 1 }).expect(200);
    const [{ id, secret }] = body.nfts;
    await client.post(`/v1/api/nft/${id}/mint`).send({ secret }).expect(200);
    return id;
  };

  const work: MintWorld['work'] = (killAt, settings = {}) => {
    const task: WorkerTask = {
      signers: chain.keys.map((privateKey) => ({ chainId: chain.chainId, privateKey })),
      settings: {
        DATABASE_URL: service.databaseUrl,
        SECRET_KEYS: secretKeys,
        AREAS: 'rwa',
        RPC_TIMEOUT_MS: '500',
        LOG_LEVEL: 'warn',
        MINT_POLL_MS: '50',
        MINT_REBROADCAST_MS: '300',
        MINT_LEASE_SECONDS: '1',
        ...settings,
      },
      ...(killAt && { killAt }),
    };
    const process = startProcess(['test/minting/worker-process.ts', JSON.stringify(task)], {});
    running.add(process);
    process.ended.then(() => running.delete(process));
    return process;
  };

  const killAll = async () => {
    const all = [...running];
    for (const { child } of all) child.kill('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
  };

  const keepMining: MintWorld['keepMining'] = (everyMs = 150) => {
    const timer = setInterval(() => void chain.mine().catch(() => {}), everyMs);
    return { stop: () => clearInterval(timer) };
  };

  return {
    chain,
    node,
    service,
    accept: (count) => Promise.all(Array.from({ length: count }, (_, index) => one(index))),
    work,
    keepMining,
    killAll,
    async settle(ids, { lost } = { lost: 0 }) {
      node.lie(undefined);
      await chain.call('evm_setAutomine', true);
      const mining = keepMining();
      if (running.size === 0) work();
      try {
        await untilAll(service, ids, 'minted', 40);
        await until('finality', async () => (await open(service)) === 0, 40);
      } catch {
        // What is wrong shows in what is found below.
      } finally {
        mining.stop();
      }
      const left = await open(service);
      const found = await faults(service, chain, ids);
      // A nonce is given up only when somebody else has used it.
      const gaveUp = await service.db('mint_transactions').where({ state: 'lost' });
      if (gaveUp.length !== lost) found.push(`${gaveUp.length} nonces were given up instead of ${lost}`);
      return left === 0 ? found : [...found, `${left} transactions are not final`];
    },
    async close() {
      await killAll();
      await service.close();
      await node.close();
      await chain.close();
    },
  };
}

async function open(service: TestService): Promise<number> {
  const [row] = await service.db('mint_transactions').whereIn('state', ['submitted', 'confirmed']).count();
  return Number(row?.['count']);
}
