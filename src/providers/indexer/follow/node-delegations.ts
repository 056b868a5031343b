import type { JsonRpcApiProvider } from 'ethers';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import { type AccountState, type Authorization, appliedOf, authorizationsOf } from '../decode/delegations.ts';
import type { Delegation } from '../decode/domain.ts';
import { bytesOf, quantityOf } from '../decode/hex.ts';
import type { RawBlock } from '../decode/raw-block.ts';
import { inTurns } from '../decode/turns.ts';
import { isAtAll, isError } from './node-error.ts';

type Node = Pick<JsonRpcApiProvider, 'send'>;

const accountsAtOnce = 12;

/**
 * Reads which delegations of a block the network applied (EIP-7702), by the hash of their transaction. The state of the
 * accounts decides, because anybody may copy an old authorization. Accounts whose state no node has are left out.
 */
export async function readDelegations(
  node: Node,
  { header, transactions }: RawBlock,
  isLastTry: boolean,
): Promise<ReadonlyMap<string, readonly Delegation[]>> {
  const authorizations = await inTurns(authorizationsOf(transactions));
  const byAccount = Map.groupBy(authorizations, ({ authority }) => authority);
  const accounts = [...byAccount.keys()];
  const applied: Authorization[] = [];
  /** Undefined where no node has the answer. */
  const unless = <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (isLastTry || isAtAll(error, isError)) return undefined;
      throw error;
    });
  const stateOf = async (account: string): Promise<AccountState> => {
    const codeAt = async (state: unknown) =>
      bytesOf(await node.send('eth_getCode', [account, state]), 'code');
    const [nonce, code] = await Promise.all([
      unless(node.send('eth_getTransactionCount', [account, quantity(header.number - 1n)])),
      unless(codeAt({ blockHash: header.hash })).then((found) => found ?? unless(codeAt('latest'))),
    ]);
    return { nonce: nonce === undefined ? undefined : quantityOf(nonce, 'nonce'), code };
  };
  for (let start = 0; start < accounts.length; start += accountsAtOnce) {
    const some = accounts.slice(start, start + accountsAtOnce);
    const states = await Promise.all(some.map(stateOf));
    some.forEach((account, place) => {
      const state = states[place];
      if (state !== undefined) applied.push(...appliedOf(byAccount.get(account) ?? [], state));
    });
  }
  // The delegations of an account are in the order of the block already.
  return Map.groupBy(applied, ({ transaction }) => transaction);
}
