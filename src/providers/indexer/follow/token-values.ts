import { Interface } from 'ethers';
import { wordOf } from '../../../chain/words.ts';
import type { TokenValues } from '../decode/block-logs.ts';
import type { BlockHeader } from '../decode/domain.ts';
import type { RawLog, RawReceipt } from '../decode/raw-block.ts';
import { topics } from '../decode/topics.ts';
import type { ContractCalls } from '../tokens/contract-calls.ts';

const abi = new Interface([
  'function decimals() view returns (uint8)',
  'function supportsInterface(bytes4) view returns (bool)',
  'function ownerOf(uint256) view returns (address)',
]);
const decimals = abi.encodeFunctionData('decimals');
const isErc721 = abi.encodeFunctionData('supportsInterface', ['0x80ac58cd']);

/** What a contract says of itself; undefined where nodes do not answer its call. */
type Self = { readonly hasDecimals: boolean | undefined; readonly isNft: boolean | undefined };

// As long as a contract moves tokens. Fewer contracts do so on any day.
const mostKnown = 50_000;
// Some ids of a contract show what all its values in a block are.
const mostIds = 3;

/** The contracts of a block that log transfers and approvals, and the values that are topics. */
type Logged = Map<string, { isAmountLogged: boolean; readonly ids: Set<bigint> }>;

/**
 * Finds the contracts whose values are not what the number of topics says, by asking them. An ERC-20 may index its
 * amounts, and an ERC-721 may leave its ids in the data. What a contract says of itself is asked once. Contracts that
 * cannot be asked count as what the standards say.
 */
export function createTokenValues(calls: ContractCalls) {
  const known = new Map<string, Self>();

  /** Asks the contracts that are not known yet, each at most two questions. */
  const askThemselves = async (contracts: readonly string[]): Promise<void> => {
    const unknown = contracts.filter((contract) => !known.has(contract));
    if (unknown.length === 0) return;
    const answers = await calls.readMany(
      unknown.flatMap((to) => [
        { to, data: decimals },
        { to, data: isErc721 },
      ]),
      (answer) => ({ word: wordOf(answer) }),
    );
    if (known.size >= mostKnown) known.clear();
    unknown.forEach((contract, place) => {
      const [first, second] = [answers[2 * place], answers[2 * place + 1]];
      const decimals = first?.word ?? 256n;
      known.set(contract, {
        hasDecimals: first && decimals < 256n,
        // With decimals above 0 the contract contradicts itself, so its ids decide.
        isNft: second && second.word === 1n && (decimals === 0n || decimals > 255n),
      });
    });
  };

  /** Returns the contracts of which an id has an owner, before or after the block. */
  const withOwners = async (
    asked: readonly (readonly [contract: string, ids: ReadonlySet<bigint>])[],
    { hash, parentHash }: BlockHeader,
  ): Promise<ReadonlySet<string>> => {
    const questions = asked.flatMap(([to, ids]) =>
      [...ids].slice(0, mostIds).map((id) => ({ to, data: abi.encodeFunctionData('ownerOf', [id]) })),
    );
    if (questions.length === 0) return new Set();
    const owners = (blockHash: string) =>
      calls.readMany(questions, (answer) => ({ word: wordOf(answer) }), { blockHash });
    // A node without these states still has the newest.
    const around = await Promise.all([owners(hash), owners(parentHash)]).catch(async () => [
      await calls.readMany(questions, (answer) => ({ word: wordOf(answer) })),
    ]);
    return new Set(
      questions.filter((_, place) => around.some((all) => isAccount(all[place]?.word))).map(({ to }) => to),
    );
  };

  /** @throws a failure that the nodes caused */
  return async (header: BlockHeader, receipts: readonly RawReceipt[]): Promise<TokenValues> => {
    const logged = loggedIn(receipts);
    await askThemselves([...logged.keys()]);
    const values = new Map<string, 'amount' | 'id'>();
    const doubted = [...logged].flatMap(([contract, { isAmountLogged, ids }]) => {
      const { hasDecimals, isNft } = known.get(contract) ?? {};
      if (ids.size === 0) {
        if (hasDecimals === false && isNft === true) values.set(contract, 'id');
        return [];
      }
      // A contract that logs amounts as the standard says has ids for its fourth topic (ERC-404).
      return hasDecimals === true && isNft !== true && !isAmountLogged ? [[contract, ids] as const] : [];
    });
    const owned = await withOwners(doubted, header);
    for (const [contract] of doubted) if (!owned.has(contract)) values.set(contract, 'amount');
    return values;
  };
}

/** Returns whether an answer names an owner. The zero address is nobody, and so is a word that is no address. */
const isAccount = (word: bigint | undefined): boolean => word !== undefined && word > 0n && word < 2n ** 160n;

function loggedIn(receipts: readonly RawReceipt[]): Logged {
  const logged: Logged = new Map();
  const add = ({ address, topics: [topic, , , value] }: RawLog) => {
    if (topic !== topics.transfer && topic !== topics.approval) return;
    const own = logged.get(address) ?? { isAmountLogged: false, ids: new Set() };
    logged.set(address, own);
    if (value !== undefined) own.ids.add(BigInt(value));
    else if (topic === topics.transfer) own.isAmountLogged = true;
  };
  for (const { logs } of receipts) for (const log of logs) add(log);
  return logged;
}
