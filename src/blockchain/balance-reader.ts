import { createFlightCache, type OnGet } from '../cache.ts';
import { NotErc20Error, readErc20Balance, readNativeBalance } from '../chain/erc20.ts';
import type { Network } from '../chain/network.ts';
import type { RpcClients } from '../chain/rpc/rpc-clients.ts';
import { problem } from '../errors.ts';

/** Whose balance, and of what. Addresses are in lower case. */
export type BalanceQuestion = {
  readonly network: Network;
  readonly address: string;
  /** The ERC-20 contract; null for the network's own currency. */
  readonly contractAddress: string | null;
};

export type Balance = {
  /** In the smallest unit. */
  readonly amount: bigint;
  readonly decimals: number | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly blockNumber: bigint;
  /** When the node was asked. */
  readonly updatedAt: Date;
};

export type BalanceReader = {
  /**
   * The balance, at most {@link keepSeconds} old. Concurrent questions for one key ask the node once.
   * @throws problem `not_erc20`, or `balance_unavailable` when no node answers; neither is remembered
   */
  read(question: BalanceQuestion): Promise<Balance>;
  close(): void;
};

type BalanceReaderOptions = {
  readonly clients: Pick<RpcClients, 'for'>;
  /** Balances remembered at most. */
  readonly maxBalances: number;
  /** Told where each balance comes from. */
  readonly onRead?: OnGet;
  readonly now?: () => Date;
};

/** How long a balance is remembered, counted from when the node was asked. */
export const keepSeconds = 60;

/** Reads balances through a cache of this process. */
export function createBalanceReader(options: BalanceReaderOptions): BalanceReader {
  const { clients, maxBalances, onRead, now = () => new Date() } = options;
  const cache = createFlightCache<Balance>({ maxKeys: maxBalances, ...(onRead && { onGet: onRead }) });

  return {
    read(question) {
      const { network, address, contractAddress } = question;
      const key = [network.chainId, contractAddress ?? '', address].join(':');
      return cache.get(key, async () => {
        const updatedAt = now();
        const value = { ...(await ask(clients, question)), updatedAt };
        const elapsedSeconds = (now().getTime() - updatedAt.getTime()) / 1000;
        return { value, ttlSeconds: keepSeconds - elapsedSeconds };
      });
    },
    close() {
      cache.close();
    },
  };
}

type Asked = Omit<Balance, 'updatedAt'>;

async function ask(
  clients: Pick<RpcClients, 'for'>,
  { network, address, contractAddress }: BalanceQuestion,
): Promise<Asked> {
  try {
    const client = clients.for(network);
    if (contractAddress === null) {
      const { balance, blockNumber } = await readNativeBalance(client, address);
      return { amount: balance, blockNumber, ...network.currency };
    }
    const { balance, ...rest } = await readErc20Balance(client, contractAddress, address);
    return { amount: balance, ...rest };
  } catch (cause) {
    if (!(cause instanceof NotErc20Error)) throw problem('balance_unavailable', {}, { cause });
    const { message } = problem('not_erc20', { address: cause.contract });
    const errors = [{ in: 'query', name: 'contractAddress', message } as const];
    throw problem('not_erc20', { address: cause.contract }, { cause, errors });
  }
}
