import type { Logger } from '../../../base/log.ts';
import { type MintPage, mintPages } from '../../../chain/minting/mint-history.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { NetworkRegistry } from '../../../chain/networks.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { Database } from '../../../contract/transaction.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import {
  type Comparison,
  comparePage,
  type Disagreement,
  isLostPast,
  isToldOf,
} from '../../minting/compare/compare-page.ts';
import {
  beginRecovery,
  type ClaimedContract,
  listSigners,
  saveDisagreements,
  setCompared,
  takeComparison,
} from '../../minting/compare/contract-claim-store.ts';
import { findOriginIfShown } from '../../minting/compare/contract-origin.ts';
import { findOldestMintedBlock } from '../../minting/compare/token-row-store.ts';

/** Compares what is final with the rows, slowly and for as long as the process runs. */
export type Audit = {
  start(): void;
  /** Compares one range of blocks of each network whose turn it is. */
  turn(): Promise<void>;
  /** Ends after the current range. */
  stop(): Promise<void>;
};

export type AuditOptions = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'list'>;
  /** One node for a range, which rests on what nodes agree on. @returns undefined while they do not */
  readonly nodeOf: (network: Network) => Promise<MintNode | undefined>;
  readonly log: Logger;
  /** Between two ranges of a network, over all processes. */
  readonly restSeconds?: number;
};

const aMinute = 60;

export function createAudit({ restSeconds = aMinute, ...options }: AuditOptions): Audit {
  const { db, log, networks, nodeOf } = options;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const turn = async () => {
    for (const network of await networks.list()) {
      if (stopping.signal.aborted) return;
      const contract = await takeComparison(db, network.chainId, restSeconds);
      if (contract === undefined) continue;
      try {
        const node = await nodeOf(network);
        if (node !== undefined) await auditRange({ db, log, network, node, contract });
      } catch (err) {
        log.warn({ err, chainId: network.chainId, contract: contract.contract }, 'mints were not audited');
      }
    }
  };
  const tick = () => {
    running ??= turn()
      .catch((err: unknown) => log.warn({ err }, 'mints could not be audited'))
      .finally(() => {
        running = undefined;
      });
  };

  return {
    turn,
    start() {
      timer = setInterval(tick, (restSeconds * 1_000) / 2);
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

type Range = Pick<AuditOptions, 'db' | 'log'> & {
  readonly network: Network;
  readonly node: MintNode;
  readonly contract: ClaimedContract;
};

async function auditRange({ db, log, network, node, contract }: Range): Promise<void> {
  const head = await node.head();
  const finalized = await node.finalized(head, network.finalityDepth);
  const id = { chainId: network.chainId, contract: contract.contract };
  const from = await firstOf(db, node, contract, finalized);
  if (from === null) return;
  const page = await firstPage(node, contract.contract, { from, to: finalized });
  if (page === undefined) return;
  const signers = new Set(await listSigners(db, network.chainId));
  const comparison: Comparison = { db, node, ...id, signers, finalized };
  const found = (await comparePage(comparison, page)).filter((each) => !isExpected(contract, each));
  const news = await inTransaction(db, async (tx) => {
    const saved = await saveDisagreements(tx, id, found);
    await setCompared(tx, id, page.to);
    return saved;
  });
  for (const { kind, tokenId, nftId, detail } of news) {
    log.error({ ...id, kind, tokenId, nftId, detail }, 'a mint and its row disagree');
  }
  const lost = news.find(isLostPast);
  if (lost === undefined) return;
  const detail = `On ${id.contract}, token ${lost.tokenId}: ${lost.detail}.`;
  await beginRecovery(db, network.chainId, { reason: 'recovery_needed', detail });
}

/** What a recovery has told of, and what a lane is about to write. */
const isExpected = ({ recoveredTo }: ClaimedContract, found: Disagreement): boolean =>
  found.kind === 'not_recorded' ? found.nftState === 'submitted' : isToldOf(recoveredTo, found);

/** The first block that is not compared yet; null while there is no contract. */
async function firstOf(
  db: Database,
  node: MintNode,
  contract: ClaimedContract,
  finalized: bigint,
): Promise<bigint | null> {
  if (contract.comparedTo !== null) return contract.comparedTo + 1n;
  const origin = await findOriginIfShown({ db, node, ...contract, newest: finalized });
  return origin === undefined ? ((await findOldestMintedBlock(db, contract)) ?? finalized) : origin;
}

/** @returns undefined when nothing is final that is not compared */
async function firstPage(
  node: MintNode,
  contract: string,
  range: { readonly from: bigint; readonly to: bigint },
): Promise<MintPage | undefined> {
  const { value } = await mintPages(node, contract, range).next();
  return value ?? undefined;
}
