import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { createDatabase } from '../db/connection/connect.ts';
import { findIndexState } from '../providers/indexer/store/write/index-state-store.ts';
import type { Credentials } from './credentials.ts';
import { localChainId } from './programs/chain.ts';
import { createChainRpc } from './programs/chain-rpc.ts';

const pauseMs = 30;
const patienceMs = 60_000;

/**
 * Waits until the index has the newest block of the local chain, so that the first answers to a person are
 * complete.
 * @returns false when that takes more than a minute
 */
export async function untilIndexed(
  { DATABASE_URL, ROLES }: Config,
  { rpcUrl }: Pick<Credentials, 'rpcUrl'>,
  log: Logger,
): Promise<boolean> {
  if (!ROLES.includes('indexer')) return true;
  const newest = BigInt(String(await createChainRpc(rpcUrl).call('eth_blockNumber')));
  await using opened = new AsyncDisposableStack();
  const db = opened.adopt(createDatabase(DATABASE_URL, { poolMax: 1, log }), (pool) => pool.destroy());
  const deadline = Date.now() + patienceMs;
  while (((await findIndexState(db, localChainId))?.head?.number ?? -1n) < newest) {
    if (Date.now() > deadline) return false;
    await pause(pauseMs);
  }
  return true;
}
