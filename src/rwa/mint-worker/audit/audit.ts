import type { Logger } from '../../../base/log.ts';
import type { MintNode } from '../../../chain/minting/mint-node.ts';
import type { NetworkRegistry } from '../../../chain/networks.ts';
import type { Network } from '../../../chain/rpc/client/network.ts';
import type { Database } from '../../../contract/transaction.ts';
import { takeComparison } from '../../minting/compare/compared-contract-store.ts';
import { compareFinal } from './comparison.ts';

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
      let node: MintNode | undefined;
      try {
        node = await nodeOf(network);
        if (node === undefined) continue;
        await compareFinal({ db, log, node, contract, to: node.finalized }).next();
      } catch (err) {
        node?.preferOthers();
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
