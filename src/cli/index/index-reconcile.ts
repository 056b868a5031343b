import { setTimeout as wait } from 'node:timers/promises';
import { ProblemError } from '../../base/errors.ts';
import { errorText } from '../../base/thrown.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import type { Reconciliation } from '../../providers/indexer/read/reconciliation.ts';
import { createStateReader } from '../../providers/indexer/read/state-reader.ts';
import { reconcileWallets, sampleWallets } from '../../providers/indexer/reconcile-wallets.ts';
import { OperationError } from '../shared/failure.ts';
import { findRegistered } from '../shared/find.ts';
import { showFound } from '../shared/output.ts';
import type { Operator } from '../shared/session.ts';

type Run = {
  readonly chainId: string;
  readonly count: number;
  readonly seed: number;
  readonly signal: AbortSignal;
};

const columns = {
  wallet: 'WALLET',
  status: 'STATUS',
  balance: 'BALANCE',
  expected: 'EXPECTED',
  difference: 'DIFFERENCE',
  reasons: 'REASONS',
};

/**
 * Compares the balances of random wallets with what their histories come to.
 * @returns whether every difference is explained
 */
export async function runReconcile(operator: Operator, run: Run): Promise<boolean> {
  const { db, output } = operator;
  const { chainId, seed } = run;
  const network = await findRegistered(operator, chainId);
  const wallets = await sampleWallets(db, chainId, run);
  output.say(`Reconciling ${wallets.length} wallets of network ${chainId}, picked with --seed ${seed}.`);
  const found = await compare(operator, network, { ...run, wallets });
  const counts = { equal: 0, explained: 0, unexplained: 0 };
  for (const { status } of found) counts[status] += 1;
  const rows = found.filter(({ status }) => status !== 'equal').map(toRow);
  showFound(output, { chainId, seed, wallets: found.length, ...counts }, { differences: rows }, columns);
  output.say(
    counts.unexplained === 0
      ? 'Every balance is what the history comes to, or differs for a known reason.'
      : `Balances differ for no known reason. Compare blocks with: tallystick index verify ${chainId}`,
  );
  return counts.unexplained === 0;
}

async function compare(
  { db, clients, output }: Operator,
  network: Network,
  { wallets, signal }: Run & { readonly wallets: readonly string[] },
): Promise<Reconciliation[]> {
  const states = createStateReader({ clients });
  const progress = output.progress('Reconciling', 'wallets');
  const onProgress = progress.update;
  const pause = (ms: number) => wait(ms, undefined, { signal });
  try {
    return await reconcileWallets({ db, states, network, wallets, signal, onProgress, pause });
  } catch (cause) {
    if (!(cause instanceof ProblemError)) throw cause;
    const why = cause.cause === undefined ? cause.message : errorText(cause.cause);
    throw new OperationError(`Network ${network.chainId} could not be reconciled: ${why}`);
  } finally {
    progress.stop();
    states.close();
  }
}

function toRow({ address, status, balance, expected, reasons }: Reconciliation) {
  return {
    wallet: address,
    status,
    balance: balance.toString(),
    expected: expected.toString(),
    difference: (balance - expected).toString(),
    reasons: reasons
      .map(({ cause, amount, count }) => `${cause} ${amount ?? `(${count ?? 'unknown'})`}`)
      .join(', '),
  };
}
