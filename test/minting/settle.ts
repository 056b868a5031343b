import { JsonRpcProvider } from 'ethers';
import { createLogger } from '../../src/base/log.ts';
import { createMintNode, type MintNode } from '../../src/chain/minting/mint-node.ts';
import { listNetworks } from '../../src/chain/network-store.ts';
import { tokenRangeOf } from '../../src/rwa/assets/token-id.ts';
import { createAudit } from '../../src/rwa/mint-worker/audit/audit.ts';
import { verifyNetwork } from '../../src/rwa/operators/remedies/mint-verify.ts';
import { faults, type MintChain, until } from '../support/minting.ts';
import type { WatchedNode } from '../support/node/watched-node.ts';
import type { TestService } from '../support/service.ts';
import { dearPrices, judgeConduct, placesOf, type Standing, standingSince, untruths } from './invariants.ts';

type Settling = {
  readonly chain: MintChain;
  readonly nodes: readonly WatchedNode[];
  readonly service: TestService;
};

/** Blocks after which an NFT that has not moved stands still. */
const standstillBlocks = 20;

/** Mines blocks now and then, until told to stop. */
export function keepMining(chain: MintChain, everyMs = 150) {
  const timer = setInterval(() => void chain.mine().catch(() => {}), everyMs);
  return { stop: () => clearInterval(timer) };
}

/** Since when prices and conduct are judged. */
export type Judged = {
  readonly since: Date;
  /** Whether every worker was of this release: others have other prices. */
  readonly isPriceJudged: boolean;
  readonly isConductJudged: boolean;
};

/** Waits until everything is minted and final, then judges rows, transactions, prices and conduct. */
export async function judgeEnd(
  setting: Settling,
  ids: readonly string[],
  { since, isPriceJudged, isConductJudged }: Judged,
): Promise<string[]> {
  const { chain, service } = setting;
  await withBlocks(chain, () =>
    until('the end', async () => (await unsettled(service, ids)) === 0, 60).catch(() => {
      // What is wrong shows in what is found below.
    }),
  );
  const found = await faults(service, chain, ids);
  const left = await unsettled(service, ids);
  if (left > 0) found.push(`${left} NFTs, transactions or changes of metadata have no final state`);
  found.push(...(await unreported(setting)));
  // Mints that a restored database lacks may reach the chain after its recovery. The audit of a worker finds them within minutes.
  if ((await disagreements(setting)).length > 0) await withBlocks(chain, () => audited(setting));
  found.push(...(await disagreements(setting)), ...(await silentOthers(setting, ids)));
  if (isPriceJudged) found.push(...(await dearPrices(setting, since)));
  if (isConductJudged) found.push(...(await judgeConduct(setting, since)));
  return found;
}

type Reasoned = Standing & { readonly untrue: readonly string[] };

/** Waits until each of these is minted, or stands still for a reason that is told. */
export async function judgeReasons(setting: Settling, ids: readonly string[]): Promise<Reasoned> {
  const { chain } = setting;
  let standing: Standing = { silent: [], reasons: [], moving: 0 };
  const isTold = async () => {
    const before = await placesOf(setting, ids);
    const head = await headOf(chain);
    await until('blocks', async () => (await headOf(chain)) >= head + BigInt(standstillBlocks), 30);
    standing = await standingSince(setting, before);
    return standing.silent.length + standing.moving === 0;
  };
  let untrue: string[] = [];
  const isTrue = async () => {
    untrue = await untruths(setting, ids);
    return untrue.length === 0;
  };
  await withBlocks(
    chain,
    async () => {
      await until('reasons', isTold, 30).catch(() => {});
      // A row follows its block only after a look.
      await until('the truth', isTrue, 5).catch(() => {});
    },
    60,
  );
  return { ...standing, untrue };
}

const headOf = async (chain: MintChain) => BigInt(await chain.call<string>('eth_blockNumber'));

async function withBlocks(chain: MintChain, act: () => Promise<void>, everyMs?: number): Promise<void> {
  await chain.call('evm_setAutomine', true);
  const mining = keepMining(chain, everyMs);
  try {
    await act();
  } finally {
    mining.stop();
  }
}

/** NFTs beside these that are under way still, and do not say why. */
async function silentOthers(setting: Settling, ids: readonly string[]): Promise<readonly string[]> {
  const others = await setting.service
    .db('nfts')
    .whereIn('mint_state', ['queued', 'submitted'])
    .whereNotIn('id', [...ids])
    .pluck('id');
  return (await standingSince(setting, await placesOf(setting, others))).silent;
}

/** Has the audit compare what is final now. When it asks for a recovery, it waits until the operator has ended that. */
async function audited(setting: Settling): Promise<void> {
  const { db } = setting.service;
  await withNode(setting, async (node) => {
    const options = {
      db,
      networks: { list: () => listNetworks(db) },
      nodeOf: async () => node,
      restSeconds: 0,
    };
    const audit = createAudit({ ...options, log: createLogger({ level: 'silent' }) });
    await until('the audit', async () => {
      await audit.turn();
      const [contract] = await db('mint_contracts').select('compared_to');
      return (
        BigInt(contract?.compared_to ?? -1) >= node.finalized || (await db('mint_recoveries')).length > 0
      );
    });
  });
  await until('the recovery', async () => (await db('mint_recoveries')).length === 0, 30).catch(() => {});
}

/** What chain and rows do not say alike, also of NFTs that a recovery has brought back. */
async function disagreements(setting: Settling): Promise<string[]> {
  const { db } = setting.service;
  const found: string[] = [];
  await withNode(setting, async (node) => {
    for (const network of await listNetworks(db)) {
      const run = { db, network, node, signal: new AbortController().signal, onProgress() {} };
      await verifyNetwork(run, ({ tokenId, kind, detail }) =>
        found.push(`token ${tokenId} ${kind}: ${detail}`),
      );
    }
  });
  return found;
}

/** Gives the chain itself as a node, at its present newest and final block. */
async function withNode({ chain }: Settling, act: (node: MintNode) => Promise<void>): Promise<void> {
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1, polling: true });
  const blockOf = (tag: string) => provider.send('eth_getBlockByNumber', [tag, false]);
  try {
    const [headBlock, final] = await Promise.all([blockOf('latest'), blockOf('finalized')]);
    const finalized = BigInt(final?.number ?? -1);
    await act(createMintNode(provider, { headBlock, finalized, broadcasters: [], preferOthers() {} }));
  } finally {
    provider.destroy();
  }
}

/** RWAs whose last change of metadata no final transaction reports with the range of their tokens (ERC-4906). */
async function unreported({ chain, service: { db } }: Settling): Promise<string[]> {
  const { rows } = await db.raw(
    `SELECT r.id, r.number, (SELECT array_agg(t.mined_hash) FROM mint_transactions t
       WHERE t.rwa_id = r.id AND t.state = 'finalized' AND t.created_at > c.at) AS hashes
     FROM rwas r JOIN (
       SELECT subject, max(at) AS at FROM audit_log
       WHERE action = 'rwa.update' AND jsonb_exists(details -> 'fields', 'description') GROUP BY 1) c
     ON c.subject = r.id::text`,
  );
  const events = await chain.refreshes();
  return rows.flatMap(({ id, number, hashes }: { id: string; number: string; hashes: string[] | null }) => {
    const { from, to } = tokenRangeOf(BigInt(number));
    const isReported = events.some(
      (event) => hashes?.includes(event.hash) && event.from === from && event.to === to,
    );
    return isReported ? [] : [`the last change of the metadata of RWA ${id} is not reported`];
  });
}

/** How many of the NFTs are not minted, how many transactions can still change, and how many RWAs are to be reported. */
async function unsettled({ db }: TestService, ids: readonly string[]): Promise<number> {
  // One statement, so one moment: what is stored as a report is due no more.
  const { rows } = await db.raw(
    `SELECT (SELECT count(*) FROM nfts WHERE id = ANY (?::uuid[]) AND mint_state <> 'minted')
       + (SELECT count(*) FROM mint_transactions WHERE state IN ('submitted', 'confirmed'))
       + (SELECT count(*) FROM rwas WHERE metadata_changed_at IS NOT NULL) AS count`,
    [[...ids]],
  );
  return Number(rows[0].count);
}
