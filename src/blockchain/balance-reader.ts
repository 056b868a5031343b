import { createFlightCache } from '../base/cache/flight-cache.ts';
import { ProblemError, problem } from '../base/errors.ts';
import { formatUnits } from '../chain/decimal.ts';
import { NotErc20Error, readErc20Balance, readNativeBalance } from '../chain/erc20.ts';
import type { Network } from '../chain/rpc/client/network.ts';
import type { RpcClients } from '../chain/rpc/client/rpc-clients.ts';
import { NodesUnavailableError } from '../chain/rpc/transport/node-fault.ts';
import type { components } from '../contract/generated/blockchain.ts';

type TokenBalance = components['schemas']['TokenBalance'];

/** The wallet and the currency of a balance. Addresses are in lower case. */
type BalanceQuestion = {
  readonly network: Network;
  readonly address: string;
  /** The ERC-20 contract; null for the network's native currency. */
  readonly contractAddress: string | null;
};

type Balance = {
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
  readonly decimals: number | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly blockNumber: bigint;
};

/** A balance as callers get it. */
type Answer = {
  readonly body: TokenBalance;
  /** When the node was queried. */
  readonly updatedAt: Date;
};

export type BalanceReader = {
  /**
   * Reads a balance that is at most {@link maxAgeSeconds} old. Concurrent reads of one balance query the node once.
   * @throws ProblemError `not_erc20`, or `balance_unavailable` when no node answers; neither is cached
   */
  read(question: BalanceQuestion): Promise<Answer>;
  close(): void;
};

type BalanceReaderOptions = {
  readonly clients: Pick<RpcClients, 'for'>;
  /** Of the cache. */
  readonly cacheBytes: number;
};

/** How long a balance is cached, counted from when the node was queried. */
export const maxAgeSeconds = 60;

/** Creates a reader of balances with a cache in this process. */
export function createBalanceReader(options: BalanceReaderOptions): BalanceReader {
  const { clients, cacheBytes } = options;
  const cache = createFlightCache<Answer>({ maxBytes: cacheBytes, bytesOf });

  return {
    read(question) {
      const { network, address, contractAddress } = question;
      const key = [network.chainId, contractAddress ?? '', address].join(':');
      return cache.get(key, async () => {
        const updatedAt = new Date();
        const body = balanceToApi(question, await queryNode(clients, question), updatedAt);
        const elapsedSeconds = (Date.now() - updatedAt.getTime()) / 1000;
        return { value: { body, updatedAt }, ttlSeconds: maxAgeSeconds - elapsedSeconds };
      });
    },
    close() {
      cache.close();
    },
  };
}

// A contract chooses its texts, up to a limit.
const bytesOf = ({ body: { symbol, name } }: Answer) =>
  1_000 + 2 * ((symbol ?? '').length + (name ?? '').length);

async function queryNode(
  clients: Pick<RpcClients, 'for'>,
  { network, address, contractAddress }: BalanceQuestion,
): Promise<Balance> {
  try {
    const client = clients.for(network);
    if (contractAddress === null) {
      const { balance, blockNumber } = await readNativeBalance(client, address);
      return { amount: balance, blockNumber, ...network.currency };
    }
    const { balance, ...rest } = await readErc20Balance(client, contractAddress, address);
    return { amount: balance, ...rest };
  } catch (cause) {
    // The company asks for too much.
    if (cause instanceof ProblemError) throw cause;
    if (!(cause instanceof NotErc20Error)) {
      const retryAfterMs = cause instanceof NodesUnavailableError ? cause.retryAfterMs : undefined;
      throw problem('balance_unavailable', {}, { retryAfterMs, cause });
    }
    const { message } = problem('not_erc20', { address: cause.contract });
    const errors = [{ in: 'query', name: 'contractAddress', message } as const];
    throw problem('not_erc20', { address: cause.contract }, { cause, errors });
  }
}

/** Returns the balance in the contract's form. @param updatedAt when the node was queried */
function balanceToApi(question: BalanceQuestion, balance: Balance, updatedAt: Date): TokenBalance {
  const { amount, decimals } = balance;
  return {
    // The registry keeps chain ids within the exact integers of a JSON number.
    chainId: Number(question.network.chainId),
    address: question.address,
    ...(question.contractAddress === null ? {} : { contractAddress: question.contractAddress }),
    balance: amount.toString(),
    decimals,
    symbol: balance.symbol,
    name: balance.name,
    formatted: decimals === null ? null : formatUnits(amount, decimals),
    blockNumber: balance.blockNumber.toString(),
    updatedAt: updatedAt.toISOString(),
  };
}
