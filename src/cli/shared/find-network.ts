import { findNetwork } from '../../chain/network-store.ts';
import type { Network } from '../../chain/rpc/client/network.ts';
import { UsageError } from './failure.ts';
import type { Operator } from './session.ts';

/** Finds a registered network by its decimal id. @throws UsageError when there is none */
export async function findRegistered({ db }: Pick<Operator, 'db'>, chainId: string): Promise<Network> {
  return (await findNetwork(db, chainId)) ?? unknownNetwork(chainId);
}

export function unknownNetwork(chainId: string): never {
  throw new UsageError(`There is no network ${chainId}. List them with: tallystick network list`);
}
