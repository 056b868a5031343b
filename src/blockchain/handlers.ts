import type { operations } from '../contract/generated/blockchain.ts';
import type { CallerContext, Handlers } from '../contract/operation.ts';
import { type BalanceReader, maxAgeSeconds } from './balance-reader.ts';
import { createNetworkHandlers } from './network-handlers.ts';
import { createStateHandlers } from './state-handlers.ts';
import { createWalletHandlers, type WalletDeps } from './wallet-handlers.ts';
import { readWalletQuestion } from './wallet-question.ts';

type BlockchainDeps = WalletDeps & {
  readonly balances: Pick<BalanceReader, 'read'>;
};

/** The handlers of the blockchain data area, except the handler that all areas share. */
export function createBlockchainHandlers({
  balances,
  ...wallets
}: BlockchainDeps): Handlers<Omit<operations, 'getBlockchainKey'>, CallerContext> {
  return {
    async getTokenBalance({ query }) {
      const question = await readWalletQuestion(wallets.networks, query);
      const { body, updatedAt } = await balances.read(question);
      return {
        status: 200,
        headers: { age: ageOf(updatedAt), 'cache-control': `private, max-age=${maxAgeSeconds}` },
        body,
      };
    },

    ...createWalletHandlers(wallets),
    ...createStateHandlers(wallets),
    ...createNetworkHandlers(wallets),
  };
}

// In whole seconds, as HTTP wants it; not negative when the clock was set back.
function ageOf(updatedAt: Date): string {
  return String(Math.max(0, Math.floor((Date.now() - updatedAt.getTime()) / 1000)));
}
