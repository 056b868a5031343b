import type { Logger } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { OnUnread } from './follow.ts';

/** Creates the observer that logs and counts, by contract, what could not be read of owners. */
export function createLedgerObserver(metrics: Metrics, log: Logger): OnUnread {
  const unread = metrics.counter({
    name: 'tallystick_ownership_unread_total',
    help: 'Polls that could not read the transfers of a contract. Other contracts were read all the same.',
    labels: ['chain_id', 'contract'],
  });
  return ({ chainId, contract }, err) => {
    unread.inc({ chain_id: chainId, contract });
    log.warn({ err, chainId, contract }, 'owners of a contract could not be read, trying again');
  };
}
