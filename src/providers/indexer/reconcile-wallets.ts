import { ProblemError } from '../../base/errors.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { Database } from '../../contract/transaction.ts';
import { type Reconciliation, reconcile } from './read/reconciliation.ts';
import { listWallets, pickWallets } from './read/reconciliation-store.ts';
import type { StateReader } from './read/state-reader.ts';
import { sampled } from './verify-blocks.ts';

type ReconcileOptions = {
  readonly db: Database;
  readonly states: StateReader;
  readonly network: Network;
  readonly wallets: readonly string[];
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  readonly pause: (ms: number) => Promise<unknown>;
};

// Number of wallets that are asked about at once.
const atOnce = 8;
// The head of the index may be replaced between its sums and the node's answer.
const maxAttempts = 5;
const pauseMs = 1_000;

/** Compares the balances of wallets with the sums of their histories. @throws the reason of the signal */
export async function reconcileWallets(options: ReconcileOptions): Promise<Reconciliation[]> {
  const { wallets, signal, onProgress } = options;
  const found: Reconciliation[] = [];
  for (let start = 0; start < wallets.length; start += atOnce) {
    signal.throwIfAborted();
    onProgress(start, wallets.length);
    const group = wallets.slice(start, start + atOnce);
    found.push(...(await Promise.all(group.map((address) => reconcileOne(options, address)))));
  }
  onProgress(wallets.length, wallets.length);
  return found;
}

async function reconcileOne(
  options: ReconcileOptions,
  address: string,
  attempt = 1,
): Promise<Reconciliation> {
  const { network, signal, pause } = options;
  try {
    return await reconcile(options, { network, address, asOf: undefined });
  } catch (error) {
    const mayPass = error instanceof ProblemError && error.code === 'balance_unavailable';
    if (!mayPass || attempt >= maxAttempts) throw error;
  }
  signal.throwIfAborted();
  await pause(pauseMs);
  return reconcileOne(options, address, attempt + 1);
}

/**
 * Returns wallets that the sums of an index know, all where there are no more. The same seed gives the same wallets.
 */
export async function sampleWallets(
  db: Database,
  chainId: string,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<string[]> {
  const few = await listWallets(db, chainId, count + 1);
  if (few.length <= count) return few;
  const marks = Array.from({ length: count }, (_, place) => `0x${sampled(seed, place).slice(0, 40)}`);
  return pickWallets(db, chainId, marks);
}
