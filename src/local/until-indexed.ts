import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { createChainRpc } from './chain-rpc.ts';
import type { Credentials } from './credentials.ts';

const pauseMs = 50;
const patienceMs = 60_000;

/**
 * Waits until the service answers up to the newest block of the local chain, so that what is tried first is
 * complete. @returns false when it does not get there in a minute
 */
export async function untilIndexed(
  { AREAS, ROLES }: Config,
  { baseUrl, rpcUrl, chainId, keys, wallets }: Credentials,
): Promise<boolean> {
  const answers = AREAS.includes('blockchain') && ROLES.includes('api') && ROLES.includes('indexer');
  if (!answers) return true;
  const head = BigInt(String(await createChainRpc(rpcUrl).call('eth_blockNumber')));
  const query = new URLSearchParams({ address: wallets[0] ?? '', chainId: String(chainId), limit: '1' });
  const url = `${baseUrl}/blockchain/v1/api/wallet/history?${query}`;
  const deadline = Date.now() + patienceMs;
  do {
    const { headers } = await fetch(url, {
      headers: { 'x-api-key': keys.noCompany },
      signal: AbortSignal.timeout(patienceMs),
    });
    const indexed = headers.get('x-index-block-number');
    if (indexed !== null && BigInt(indexed) >= head) return true;
    await pause(pauseMs);
  } while (Date.now() < deadline);
  return false;
}
