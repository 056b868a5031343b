import { createFlightCache } from '../base/cache.ts';
import { problem } from '../base/errors.ts';
import { NotErc20Error, readErc20Balance, readNativeBalance } from '../chain/erc20.ts';
import type { Network } from '../chain/rpc/client/network.ts';
import type { RpcClients } from '../chain/rpc/client/rpc-clients.ts';
import { NodesUnavailableError } from '../chain/rpc/transport/node-fault.ts';

/** The wallet and the currency of a balance. Addresses are in lower case. */
export type BalanceQuestion = {
  readonly network: Network;
  readonly address: string;
  /** The ERC-20 contract; null for the network's native currency. */
  readonly contractAddress: string | null;
};

export type Balance = {
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
  readonly decimals: number | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly blockNumber: bigint;
  /** When the node was queried. */
  readonly updatedAt: Date;
};

export type BalanceReader = {
  /**
   * Reads a balance that is at most {@link maxAgeSeconds} old. Concurrent reads of one balance query the node once.
   * @throws ProblemError `not_erc20`, or `balance_unavailable` when no node answers; neither is cached
   */
  read(question: BalanceQuestion): Promise<Balance>;
  close(): void;
};

type BalanceReaderOptions = {
  readonly clients: Pick<RpcClients, 'for'>;
  /** Balances in the cache at most. */
  readonly maxBalances: number;
  readonly now?: () => Date;
};

/** How long a balance is cached, counted from when the node was queried. */
export const maxAgeSeconds = 60;

/** Creates a reader of balances with a cache in this process. */
export function createBalanceReader(options: BalanceReaderOptions): BalanceReader {
  const { clients, maxBalances, now = () => new Date() } = options;
  const cache = createFlightCache<Balance>({ maxKeys: maxBalances });

  return {
    read(question) {
      const { network, address, contractAddress } = question;
      const key = [network.chainId, contractAddress ?? '', address].join(':');
      return cache.get(key, async () => {
        const updatedAt = now();
        const value = { ...(await queryNode(clients, question)), updatedAt };
        const elapsedSeconds = (now().getTime() - updatedAt.getTime()) / 1000;
        return { value, ttlSeconds: maxAgeSeconds - elapsedSeconds };
      });
    },
    close() {
      cache.close();
    },
  };
}

async function queryNode(
  clients: Pick<RpcClients, 'for'>,
  { network, address, contractAddress }: BalanceQuestion,
): Promise<Omit<Balance, 'updatedAt'>> {
  try {
    const client = clients.for(network);
    if (contractAddress === null) {
      const { balance, blockNumber } = await readNativeBalance(client, address);
      return { amount: balance, blockNumber, ...network.currency };
    }
    const { balance, ...rest } = await readErc20Balance(client, contractAddress, address);
    return { amount: balance, ...rest };
  } catch (cause) {
    if (!(cause instanceof NotErc20Error)) {
      const retryAfterMs = cause instanceof NodesUnavailableError ? cause.retryAfterMs : undefined;
      throw problem('balance_unavailable', {}, { retryAfterMs, cause });
    }
    const { message } = problem('not_erc20', { address: cause.contract });
    const errors = [{ in: 'query', name: 'contractAddress', message } as const];
    throw problem('not_erc20', { address: cause.contract }, { cause, errors });
  }
}
