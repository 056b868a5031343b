import { createHash } from 'node:crypto';
import { createLogger } from '../../../src/base/log.ts';
import { createTrigger } from '../../../src/base/trigger.ts';
import { createKeySigner } from '../../../src/chain/minting/key-signer.ts';
import type { MintSigner } from '../../../src/chain/minting/signer.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { numberNews } from '../../../src/news/feed/sequencer-store.ts';
import { issueNfts } from '../../../src/rwa/assets/nft-issuer.ts';
import { createMintWorker } from '../../../src/rwa/mint-worker/mint-worker.ts';
import { createMintAcceptor, type MintAcceptor } from '../../../src/rwa/minting/accept/mint-acceptor.ts';
import { followTransfers } from '../../../src/rwa/ownership/follow.ts';
import { takeSnapshots } from '../../../src/rwa/ownership/take-snapshots.ts';
import { addCompany, addRwa, serviceVault } from '../../rwa/samples.ts';
import { createChance } from '../chance.ts';
import { type Chain, createChain, readRaw } from './chain.ts';
import {
  admin,
  blockMs,
  chainId,
  chainText,
  confirmations,
  contract,
  finalityDepth,
  treasury,
} from './constants.ts';
import type { LivesDatabase } from './database.ts';
import { createNodes } from './nodes.ts';
import type { Plan } from './plan.ts';
import { type Process, type Skew, type Surroundings, startProcess } from './process.ts';
import { qualities } from './qualities.ts';
import { recordBroadcasts, type Signatures } from './signatures.ts';
import { noteTrespasses, type Trespasses, type Worker } from './trespasses.ts';
import { viewOf } from './view.ts';

/* The world of a life: a chain, nodes, a database, processes of the service. */

const keys = ['01', '02'].map((byte) => `0x${byte.repeat(32)}`);
const opened = keys.map((key) => {
  const { address, sign } = createKeySigner(key);
  const signer: MintSigner = {
    address,
    async sign(transaction) {
      const signed = await sign(transaction);
      readRaw(signed.raw, address);
      return signed;
    },
  };
  return { address, signer };
});
const signerAddresses = opened.map(({ address }) => address);

export type Rwa = { readonly id: string; readonly companyId: string };

export type World = Surroundings & {
  readonly plan: Plan;
  readonly db: Database;
  readonly chain: Chain;
  readonly rwas: readonly Rwa[];
  readonly signers: readonly string[];
  /** Ids of the NFTs whose mint was accepted, and answered so. */
  readonly accepted: ReadonlySet<string>;
  /** Ids of the NFTs that a company has got to hand out. */
  readonly issued: ReadonlySet<string>;
  readonly workers: Worker[];
  readonly trespasses: Trespasses;
  readonly signatures: Signatures;
  readonly state: State;
  /** Writes a line of the log. */
  tell(text: string): void;
  /** The name of an NFT in the log. */
  nameOf(nftId: string): Promise<string>;
  seconds(): number;
  startWorker(skew?: Skew): Promise<void>;
  /** The process that accepts mints. When it has died, another one starts. */
  api(): Process;
  /** As a client that asks again until it is answered. */
  mint(rwa: Rwa, count: number, recipients: readonly (string | undefined)[]): Promise<void>;
  claim(rwa: Rwa, recipient: string): Promise<void>;
  /** Lets the ledger of owners read at once. */
  read(): void;
  close(): Promise<void>;
};

type State = {
  blockMs: number;
  isMining: boolean;
  /** Blocks have nothing of our signers. */
  isLeftOut: boolean;
  hasRestored: boolean;
  /** Final blocks were replaced. */
  hasRolledBack: boolean;
  isLedgerDeceived: boolean;
  isReplaced: boolean;
  /** How often somebody has asked for a transaction to a contract that makes them fail. */
  probes: number;
  /** RWAs whose metadata have changed since a mint, by their numbers, and the newest block then. */
  readonly changes: Map<string, number>;
};

type Options = {
  readonly plan: Plan;
  readonly database: LivesDatabase;
  readonly now: () => number;
  readonly tell: (text: string) => void;
};

export const feeCap = 100n * 10n ** 9n;
const settings = {
  feeCap,
  maxInFlight: 4,
  blockShare: 25,
  stuckBlocks: 3,
  pollMs: 15_000,
  rebroadcastMs: 15_000,
  leaseSeconds: 45,
  standstillSeconds: 60,
  refreshSeconds: 30,
};

export async function createWorld({ plan, database, now, tell }: Options): Promise<World> {
  const db = database.db();
  const signers = signerAddresses.slice(0, plan.signers);
  const chain = createChain({
    contract: contract.toLowerCase(),
    finality: finalityDepth,
    state: { admin, minters: new Set(signers.map((each) => each.toLowerCase())), owners: new Map() },
  });
  const isOurs = (from: string) => signers.some((signer) => signer.toLowerCase() === from);
  const secondsNow = () => Math.floor(Date.now() / 1_000);
  for (let number = 0; number < 8; number += 1) chain.mine(secondsNow() - (8 - number) * 8);
  const signatures = recordBroadcasts(chain);
  const nodes = createNodes(signatures);
  await populate(db, plan, signers);
  const seconds = () => Math.floor(now() / 1_000);
  const say = (text: string) => tell(`${String(seconds()).padStart(5)} ${text}`);
  const log = createLogger({
    level: 'warn',
    destination: { write: (line) => say(`    log ${wordsOf(line)}`) },
  });
  const around: Surroundings = { database, nodes, log, finalityNodes: undefined };
  const state: State = {
    blockMs,
    isMining: true,
    isLeftOut: false,
    hasRestored: false,
    hasRolledBack: false,
    isLedgerDeceived: false,
    isReplaced: false,
    probes: 0,
    changes: new Map(),
  };
  const rwas = await makeRwas(db, plan);
  for (const [index, planned] of plan.nodes.entries()) {
    const flaws = qualities[planned.quality]?.(chain, createChance(planned.draw)) ?? [];
    const url = `http://node-${index + 1}.invalid`;
    nodes.all.push({ url, view: viewOf(chain, chainId), flaws, lie: undefined, ms: planned.ms, asked: 0 });
  }
  const mine = () => {
    mining = setTimeout(mine, state.blockMs);
    if (!state.isMining) return;
    const { number, mined } = chain.mine(secondsNow(), ({ from }) => state.isLeftOut && isOurs(from));
    if (mined.length > 0) say(`block ${number}: ${mined.length} transactions`);
  };
  let mining = setTimeout(mine, state.blockMs);
  const names = new Map<string, string>();
  const nameOf = async (nftId: string) => {
    const row = names.has(nftId)
      ? undefined
      : await db('nfts').where({ id: nftId }).first('rwa_number', 'serial');
    if (row !== undefined) names.set(nftId, `NFT ${row.rwa_number}/${row.serial}`);
    return names.get(nftId) ?? 'NFT ?';
  };
  const workers: Worker[] = [];
  const trespasses = noteTrespasses(
    chain,
    () => state.hasRolledBack || plan.nodes.some(({ quality }) => quality === 'on a fork'),
  );
  const [accepted, issued] = [new Set<string>(), new Set<string>()];
  const reader = startReader(await startProcess(around, 'reader'), say, trespasses);
  let started = 0;

  const startWorker = async (skew?: Skew) => {
    started += 1;
    const name = `worker ${started}`;
    const process = await startProcess(around, name, skew);
    const minter = createMintWorker({
      ...process,
      log,
      settings,
      signers: opened.slice(0, plan.signers).map(({ address, signer }) => ({
        chainId: chainText,
        name: address,
        open: async () => signer,
      })),
      holder: name,
      observe: (lane, step, facts) => trespasses.step(worker, lane, step, facts),
      step: (step, { nonce, attempt, reason, detail, block }) => {
        if (worker.ambush?.step === step) {
          worker.ambush.happen();
          worker.ambush = undefined;
        }
        const facts = { nonce, attempt, block, reason, detail };
        const told = Object.entries(facts).flatMap(([key, value]) =>
          value === undefined ? [] : `${key} ${value}`,
        );
        say(`  ${name}: ${[step, ...told].join(', ')}`);
      },
    });
    const worker: Worker = {
      process,
      isStopping: false,
      ambush: undefined,
      async stop() {
        worker.isStopping = true;
        await minter.stop();
        await process.close();
        if (workers.includes(worker)) workers.splice(workers.indexOf(worker), 1);
      },
    };
    workers.push(worker);
    process.onDeath(() => {
      say(`  ${name} has died`);
      void worker.stop();
    });
    await minter.start().catch((error: unknown) => say(`  ${name} did not start: ${String(error)}`));
  };

  const openApi = async () => {
    const process = await startProcess(around, 'api');
    const acceptor = createMintAcceptor({
      db: process.db,
      vault: serviceVault,
      jobs: { async enqueue() {} } as Parameters<typeof createMintAcceptor>[0]['jobs'],
      wake: () => {
        for (const worker of workers) worker.process.notify();
      },
      toAnswer: (nftId) => ({ nftId }),
    });
    return { process, acceptor };
  };
  let api = await openApi();
  const by = { kind: 'key', keyId: 'lives', address: '127.0.0.1', requestId: 'lives' } as const;
  let requests = 0;
  const requestOf = ({ companyId }: Rwa, path: string, recipient: string | undefined) => {
    requests += 1;
    const key = `lives-${requests}`;
    const requestHash = createHash('sha256').update(key).digest();
    return { companyId, recipient, by, idempotency: { companyId, method: 'POST', path, key, requestHash } };
  };
  const untilAnswered = async (ask: (acceptor: MintAcceptor) => Promise<{ readonly nftId: string }>) => {
    const { process, acceptor } = api;
    try {
      const { nftId } = await ask(acceptor);
      accepted.add(nftId);
      say(`accepted ${await nameOf(nftId)}`);
    } catch (error) {
      if (process.isAlive()) return say(`not accepted: ${error instanceof Error ? error.message : error}`);
      if (api.process === process) {
        say('  the api has died');
        void process.close();
        api = await openApi();
      }
      // The same request again: nobody knows whether the first was accepted.
      await untilAnswered(ask);
    }
  };

  return {
    ...around,
    plan,
    db,
    chain,
    rwas,
    signers,
    accepted,
    issued,
    workers,
    trespasses,
    signatures,
    state,
    tell: say,
    nameOf,
    seconds,
    startWorker,
    api: () => api.process,
    async mint(rwa, count, recipients) {
      const path = `/v1/api/rwa/${rwa.id}/mint`;
      const all = Array.from({ length: count }, (_, index) => requestOf(rwa, path, recipients[index]));
      await Promise.all(
        all.map((request) =>
          untilAnswered((acceptor) => acceptor.createAndMint({ ...request, rwaId: rwa.id, data: undefined })),
        ),
      );
    },
    async claim(rwa, recipient) {
      const wanted = { companyId: rwa.companyId, rwaId: rwa.id, count: 1 };
      const [nft] = await db.transaction((tx) => issueNfts(tx, serviceVault, wanted));
      if (nft === undefined) return;
      const { id: nftId, secret } = nft;
      issued.add(nftId);
      const caller = { kind: 'key', name: 'lives' } as const;
      const request = requestOf(rwa, `/v1/api/nft/${nftId}/mint`, recipient);
      await untilAnswered((acceptor) => acceptor.mint({ ...request, nftId, secret, caller }));
    },
    read: reader.read,
    async close() {
      clearTimeout(mining);
      await Promise.all([...workers].map((worker) => worker.stop()));
      await reader.stop();
      await api.process.close();
    },
  };
}

function wordsOf(line: string): string {
  const { msg, err, reason, detail, words } = JSON.parse(line);
  const told = [reason, detail, words, err?.message].filter((each) => each !== undefined);
  return [msg, ...told].join(': ').slice(0, 300);
}

async function populate(db: Database, plan: Plan, signers: readonly string[]): Promise<void> {
  await db('networks').insert({
    chain_id: chainText,
    name: 'Lives',
    currency_name: 'Ether',
    currency_symbol: 'ETH',
    currency_decimals: 18,
    rpc_urls: plan.nodes.map((_, index) => `http://node-${index + 1}.invalid`),
    data_provider: 'indexer',
    confirmations,
    finality_depth: finalityDepth,
    minter_contract: contract,
  });
  await db('mint_lanes').insert(signers.map((signer) => ({ chain_id: chainText, signer })));
}

async function makeRwas(db: Database, plan: Plan): Promise<Rwa[]> {
  const rwas: Rwa[] = [];
  for (let company = 1; company <= plan.companies; company += 1) {
    const companyId = await addCompany(db, `company-${company}`, { treasury_address: treasury });
    for (let index = 0; index < plan.rwas; index += 1) {
      const { id } = await addRwa(db, companyId, { isClaimable: true, contractAddress: contract });
      rwas.push({ id, companyId });
    }
  }
  return rwas;
}

const readerMs = 40_000;

/** Follows owners, takes snapshots and numbers news, as the loops of a worker do. */
function startReader(process: Process, tell: (text: string) => void, trespasses: Trespasses) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const trigger = createTrigger(signal);
  const failed = new Set<string>();
  const run = async () => {
    while (!signal.aborted) {
      try {
        const network = await process.networks.find(chainText);
        if (network === undefined) throw new Error('the network is gone');
        const read = await followTransfers({
          db: process.db,
          network,
          pinNode: (of, known) => process.clients.pool(of).pin({ ...of, known }),
          signal,
          step: (step, { from, to }) => {
            if (step === 'read') trespasses.read(to);
            else tell(`  owners: ${step}, blocks ${from} to ${to}`);
          },
          onUnread: (_contract, error) => tell(`  owners not read: ${String(error)}`),
        });
        if (read !== undefined) await takeSnapshots({ ...read, db: process.db, failed, signal });
        trespasses.taken(
          await process.db('ownership_snapshots').whereNotNull('taken_at').max('block_number'),
        );
        await numberNews(process.db, 1_000);
      } catch (error) {
        if (!signal.aborted) tell(`  owners not read: ${String(error)}`);
      }
      await trigger.wait(readerMs);
    }
  };
  const ended = run();
  return {
    read: () => trigger.fire(),
    async stop() {
      stopping.abort();
      await ended;
      await process.close();
    },
  };
}
