import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { NetworkIndex } from './network-index.ts';

/** Indexes every registered network whose data provider is the index. */
export type NetworkIndexes = {
  /** Resolves when every step in progress has ended, or after the grace time. Either way nothing is half written. */
  stop(graceMs: number): Promise<void>;
};

type IndexesOptions = {
  readonly networks: Pick<NetworkRegistry, 'list' | 'onChange'>;
  readonly indexOf: (network: Network) => Pick<NetworkIndex, 'runner'>;
  readonly log: Logger;
};

type Running = { readonly fingerprint: string; readonly end: AbortController; readonly ended: Promise<void> };

// A change is announced at once. This bounds the delay where the message was lost or the database was out.
const recheckMs = 15_000;

/** Starts and stops indexes as networks are added, changed and removed. */
export function startNetworkIndexes({ networks, indexOf, log }: IndexesOptions): NetworkIndexes {
  const running = new Map<string, Running>();
  const stopping = new AbortController();
  let changed = new AbortController();
  const forget = networks.onChange(() => changed.abort());

  const begin = (network: Network) => {
    const end = new AbortController();
    const signal = AbortSignal.any([end.signal, stopping.signal]);
    const ended = indexOf(network)
      .runner.run(signal)
      .catch((err: unknown) => log.error({ err, chainId: network.chainId }, 'index ended'))
      .finally(() => {
        // An index that ended on its own is restarted at the next check.
        if (running.get(network.chainId)?.end === end) running.delete(network.chainId);
      });
    running.set(network.chainId, { fingerprint: fingerprintOf(network), end, ended });
  };

  const arrange = async () => {
    const wanted = (await networks.list()).filter(({ dataProvider }) => dataProvider === 'indexer');
    const fingerprints = new Map(wanted.map((network) => [network.chainId, fingerprintOf(network)]));
    const outdated = [...running].filter(
      ([chainId, { fingerprint }]) => fingerprints.get(chainId) !== fingerprint,
    );
    for (const [, { end }] of outdated) end.abort();
    await Promise.all(outdated.map(([, { ended }]) => ended));
    if (stopping.signal.aborted) return;
    for (const network of wanted) if (!running.has(network.chainId)) begin(network);
  };

  const watch = async () => {
    while (!stopping.signal.aborted) {
      changed = new AbortController();
      await arrange().catch((err: unknown) => log.warn({ err }, 'the networks to index are not known'));
      const news = AbortSignal.any([changed.signal, stopping.signal]);
      await wait(recheckMs, undefined, { signal: news }).catch(() => {}); // a change, or the stop, ended the wait
    }
  };
  const watching = watch();

  return {
    async stop(graceMs) {
      forget();
      stopping.abort();
      const everything = watching.then(() => Promise.all([...running.values()].map(({ ended }) => ended)));
      await Promise.race([everything, wait(graceMs, undefined, { ref: false })]);
    },
  };
}

/** The settings that an index was started with; when they change, it is restarted. */
function fingerprintOf(network: Network): string {
  const { rpcUrls, finalityDepth, indexFrom, indexTraces, wrappedNatives } = network;
  const { nativeAsset, entryPoints } = network;
  const ofLogs = [wrappedNatives, nativeAsset, entryPoints];
  return JSON.stringify([rpcUrls, finalityDepth, indexFrom, indexTraces, ofLogs]);
}
