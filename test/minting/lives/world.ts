import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createLogger } from '../../../src/base/log.ts';
import { createKeySigner } from '../../../src/chain/minting/key-signer.ts';
import type { MintSigner } from '../../../src/chain/minting/signer.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { numberNews } from '../../../src/news/feed/sequencer-store.ts';
import { issueNfts } from '../../../src/rwa/assets/nft-issuer.ts';
import { createMintWorker } from '../../../src/rwa/mint-worker/mint-worker.ts';
import { createMintAcceptor } from '../../../src/rwa/minting/accept/mint-acceptor.ts';
import { followTransfers } from '../../../src/rwa/ownership/follow.ts';
import { addCompany, addRwa, serviceVault } from '../../rwa/samples.ts';
import { createChance } from '../chance.ts';
import { type Chain, createChain, readRaw } from './chain.ts';
import { admin, blockMs, chainId, chainText, contract, finalityDepth, treasury } from './constants.ts';
import type { LivesDatabase } from './database.ts';
import { createNodes } from './nodes.ts';
import type { Plan } from './plan.ts';
import { type Process, type Skew, type Surroundings, startProcess } from './process.ts';
import { qualities } from './qualities.ts';
import { recordBroadcasts, type Signatures } from './signatures.ts';
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

type Worker = { readonly process: Process; isStopping: boolean; stop(): Promise<void> };
type Rwa = { readonly id: string; readonly companyId: string };

export type World = Surroundings & {
  readonly plan: Plan;
  readonly db: Database;
  readonly chain: Chain;
  readonly rwas: readonly Rwa[];
  readonly signers: readonly string[];
  /** Ids of the NFTs whose mint was accepted, and answered so. */
  readonly accepted: Set<string>;
  readonly workers: Worker[];
  /** Writes in a lane of somebody else, and lanes taken from workers that were well. */
  readonly trespasses: readonly string[];
  readonly signatures: Signatures;
  readonly state: { isMining: boolean; hasRestored: boolean; isLedgerDeceived: boolean; isReplaced: boolean };
  /** Writes a line of the log. */
  tell(text: string): void;
  /** The name of an NFT in the log. */
  nameOf(nftId: string): Promise<string>;
  seconds(): number;
  startWorker(skew?: Skew): Promise<void>;
  /** As a client that asks again until it is answered. @returns the ids that were accepted */
  mint(rwa: Rwa, count: number, recipients: readonly (string | undefined)[]): Promise<void>;
  claim(rwa: Rwa, recipient: string): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  readonly plan: Plan;
  readonly database: LivesDatabase;
  readonly now: () => number;
  readonly tell: (text: string) => void;
};

const settings = {
  feeCap: 100n * 10n ** 9n,
  maxInFlight: 4,
  blockShare: 25,
  stuckBlocks: 3,
  pollMs: 13_000,
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
  const state = { isMining: true, hasRestored: false, isLedgerDeceived: false, isReplaced: false };
  const rwas = await makeRwas(db, plan);
  for (const [index, planned] of plan.nodes.entries()) {
    const flaws = qualities[planned.quality]?.(chain, createChance(planned.draw)) ?? [];
    const url = `http://node-${index + 1}.invalid`;
    nodes.all.push({ url, view: viewOf(chain, chainId), flaws, lie: undefined, ms: planned.ms, asked: 0 });
  }
  const mining = setInterval(() => {
    if (!state.isMining) return;
    const { number, mined } = chain.mine(secondsNow());
    if (mined.length > 0) say(`block ${number}: ${mined.length} transactions`);
  }, blockMs);
  const names = new Map<string, string>();
  const nameOf = async (nftId: string) => {
    const row = names.has(nftId)
      ? undefined
      : await db('nfts').where({ id: nftId }).first('rwa_number', 'serial');
    if (row !== undefined) names.set(nftId, `NFT ${row.rwa_number}/${row.serial}`);
    return names.get(nftId) ?? 'NFT ?';
  };
  const workers: Worker[] = [];
  const holders = new Map<string, Worker>();
  const trespasses: string[] = [];
  const watchLane = (worker: Worker, { signer }: { readonly signer: string }, step: string) => {
    const holder = holders.get(signer) ?? worker;
    const isWell = holder.process.isAlive() && !holder.process.hasFrozen() && !holder.isStopping;
    if (step === 'taken') {
      if (holder !== worker && isWell)
        trespasses.push(`${worker.process.name} takes the lane from ${holder.process.name}, which is well`);
      holders.set(signer, worker);
    } else if (committed.includes(step) && holder !== worker)
      trespasses.push(`${worker.process.name} has ${step} in the lane of ${holder.process.name}`);
  };
  const accepted = new Set<string>();
  const api = await startProcess(around, 'api');
  const reader = startReader(await startProcess(around, 'reader'), say);
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
      observe: (lane, step) => watchLane(worker, lane, step),
      step: (step, { nonce, attempt, reason, detail, block }) => {
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

  const acceptor = createMintAcceptor({
    db: api.db,
    vault: serviceVault,
    jobs: { async enqueue() {} } as Parameters<typeof createMintAcceptor>[0]['jobs'],
    wake: () => {
      for (const { process } of workers) process.notify();
    },
    toAnswer: (nftId) => ({ nftId }),
  });
  const by = { kind: 'key', keyId: 'lives', address: '127.0.0.1', requestId: 'lives' } as const;
  let requests = 0;
  const requestOf = ({ companyId }: Rwa, path: string, recipient: string | undefined) => {
    requests += 1;
    const key = `lives-${requests}`;
    const requestHash = createHash('sha256').update(key).digest();
    return { companyId, recipient, by, idempotency: { companyId, method: 'POST', path, key, requestHash } };
  };
  const untilAnswered = async (ask: () => Promise<{ readonly nftId: string }>) => {
    try {
      const { nftId } = await ask();
      accepted.add(nftId);
      say(`accepted ${await nameOf(nftId)}`);
    } catch (error) {
      say(`not accepted: ${error instanceof Error ? error.message : error}`);
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
    workers,
    trespasses,
    signatures,
    state,
    tell: say,
    nameOf,
    seconds,
    startWorker,
    async mint(rwa, count, recipients) {
      const path = `/v1/api/rwa/${rwa.id}/mint`;
      const all = Array.from({ length: count }, (_, index) => requestOf(rwa, path, recipients[index]));
      await Promise.all(
        all.map((request) =>
          untilAnswered(() => acceptor.createAndMint({ ...request, rwaId: rwa.id, data: undefined })),
        ),
      );
    },
    async claim(rwa, recipient) {
      const wanted = { companyId: rwa.companyId, rwaId: rwa.id, count: 1 };
      const [nft] = await db.transaction((tx) => issueNfts(tx, serviceVault, wanted));
      if (nft === undefined) return;
      const { id: nftId, secret } = nft;
      const caller = { kind: 'key', name: 'lives' } as const;
      const request = requestOf(rwa, `/v1/api/nft/${nftId}/mint`, recipient);
      await untilAnswered(() => acceptor.mint({ ...request, nftId, secret, caller }));
    },
    async close() {
      clearInterval(mining);
      await Promise.all([...workers].map((worker) => worker.stop()));
      await reader.stop();
      await api.close();
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
    confirmations: 2,
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

// A lane says so after its transaction.
const committed = ['stored', 'confirmed', 'finalized', 'reverted'];
const readerMs = 40_000;

/** Follows owners and numbers news, as the loops of a worker do. */
function startReader(process: Process, tell: (text: string) => void) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    while (!signal.aborted) {
      try {
        const network = await process.networks.find(chainText);
        if (network === undefined) throw new Error('the network is gone');
        await followTransfers({
          db: process.db,
          network,
          pinNode: (of, known) => process.clients.pool(of).pin({ ...of, known }),
          signal,
          step: (step, { from, to }) => {
            if (step !== 'read') tell(`  owners: ${step}, blocks ${from} to ${to}`);
          },
          onUnread: (_contract, error) => tell(`  owners not read: ${String(error)}`),
        });
        await numberNews(process.db, 1_000);
      } catch (error) {
        if (!signal.aborted) tell(`  owners not read: ${String(error)}`);
      }
      await wait(readerMs, undefined, { signal }).catch(() => {});
    }
  };
  const ended = run();
  return {
    async stop() {
      stopping.abort();
      await ended;
      await process.close();
    },
  };
}
