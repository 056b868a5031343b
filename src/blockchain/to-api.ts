import type { Network } from '../chain/rpc/client/network.ts';
import type { components } from '../contract/generated/blockchain.ts';
import type { Seen } from '../providers/shared/provider.ts';

/** Converts where a wallet was seen to the contract's form. */
export function chainToApi(
  { chainId, name }: Network,
  { first, last }: Seen,
): components['schemas']['WalletChain'] {
  return {
    chainId: Number(chainId),
    name,
    first_block: first.blockNumber.toString(),
    first_block_timestamp: first.blockTime.toISOString(),
    last_block: last.blockNumber.toString(),
    last_block_timestamp: last.blockTime.toISOString(),
  };
}
