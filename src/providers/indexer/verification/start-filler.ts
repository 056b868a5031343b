import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import { findIndexState } from '../store/write/index-state-store.ts';
import {
  type AskedHolding,
  listUnstarted,
  saveStarts,
  startFromNothing,
  type UnstartedHolding,
} from '../store/write/start-store.ts';
import type { AccountStates } from './account-states.ts';

type StartFillerOptions = {
  readonly chainId: string;
  readonly db: Database;
  readonly states: AccountStates;
  readonly log: Logger;
};

const holdingsAtOnce = 96;

/**
 * Finds out what wallets had of ERC-1155 tokens before the index began. It asks at the head of the index, whose state
 * every node has. The amount there, less what the index counted, existed before. The returned function asks about some
 * holdings, and returns whether there may be more. It never rejects because of a node.
 */
export function createStartFiller({ chainId, db, states, log }: StartFillerOptions) {
  const ask = async (head: string, holdings: readonly UnstartedHolding[]): Promise<AskedHolding[]> => {
    const amounts = await states.amountsOf(
      holdings.map(({ contract: token, tokenId, wallet: account }) => ({
        standard: 1155,
        token,
        tokenId,
        account,
      })),
      head,
    );
    return holdings.map((holding, place) => ({ ...holding, amount: amounts[place]?.amount }));
  };

  return async (): Promise<boolean> => {
    const state = await findIndexState(db, chainId);
    if (state?.head === undefined) return false;
    if (state.startBlock === 0n) return (await startFromNothing(db, chainId, 1_000)) === 1_000;
    const holdings = await listUnstarted(db, chainId, holdingsAtOnce);
    if (holdings.length === 0) return false;
    const { hash } = state.head;
    try {
      const asked = await ask(hash, holdings);
      return (await saveStarts(db, chainId, hash, asked)) && holdings.length === holdingsAtOnce;
    } catch (err) {
      // The holdings stay as they are, and responses say that amounts are not whole.
      log.debug({ err, chainId }, 'amounts from before the index could not be asked for');
      return false;
    }
  };
}
