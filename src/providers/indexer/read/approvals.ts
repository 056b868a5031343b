import { Interface } from 'ethers';
import { problem } from '../../../base/errors.ts';
import { formatUnits } from '../../../chain/decimal.ts';
import { accountOf, wordOf } from '../../../chain/words.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { ApprovalPage, ListQuestion, LiveApproval } from '../../shared/provider.ts';
import { findContracts, type KnownContract } from '../store/tokens/contract-store.ts';
import type { BatchedCall } from '../tokens/multicall.ts';
import { type GivenApproval, listGivenApprovals } from './approval-page-store.ts';
import { findCoverage } from './coverage-store.ts';
import { readApprovalPlace, writeApprovalPlace } from './position.ts';
import type { StateAnswer, StateReader } from './state-reader.ts';
import type { TokenJudge, TokenJudges } from './token-trust.ts';

const abi = new Interface([
  'function allowance(address,address) view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function getApproved(uint256) view returns (address)',
  'function ownerOf(uint256) view returns (address)',
  'function isApprovedForAll(address,address) view returns (bool)',
]);

type Options = { readonly db: Database; readonly states: StateReader; readonly judges: TokenJudges };

// For an approval that never ends wallets write half of the largest amount or more.
const unlimited = 2n ** 255n;

/**
 * Returns the live approvals of a wallet, as the contracts report them at the head of the index.
 * @throws problem `approvals_unavailable`, `service_unavailable`, or `cursor_invalid` for a malformed position
 */
export async function listApprovals(
  { db, states, judges }: Options,
  { network, address: wallet, limit, position }: ListQuestion,
): Promise<ApprovalPage> {
  const { chainId } = network;
  const after = position === undefined ? undefined : readApprovalPlace(position);
  const found = await listGivenApprovals(db, { chainId, wallet, limit: limit + 1, after });
  if (found === undefined) throw problem('service_unavailable');
  const { completeTo } = found;
  const rows = found.rows.slice(0, limit);
  const last = found.rows.length > limit ? rows.at(-1) : undefined;
  const key = `approvals:${wallet}:${position ?? ''}:${limit}`;
  const calls = rows.flatMap((row) => questionsOf(row, wallet));
  const answers = await states.call({ network, ...completeTo }, key, calls).catch((cause: unknown) => {
    throw problem('approvals_unavailable', {}, { cause });
  });
  const known = await findContracts(db, chainId, [...new Set(rows.map(({ contract }) => contract))]);
  const texts = new Map(known.map((text) => [text.contract, text]));
  const judge = judges.of(network);
  const entries = rows.flatMap((row, place) => {
    const own = [answers[2 * place], answers[2 * place + 1]] as const;
    return toLive(row, own, { wallet, judge, text: texts.get(row.contract) });
  });
  const coverage = await findCoverage(db, chainId, {});
  return {
    entries,
    next: last && writeApprovalPlace(last),
    completeTo,
    ...(coverage && { coverage }),
  };
}

/** Returns two questions for each approval, so that the answers are found again. */
function questionsOf({ contract: to, kind, spender, tokenId }: GivenApproval, wallet: string): BatchedCall[] {
  const ask = (name: string, values: readonly unknown[]) => ({
    to,
    data: abi.encodeFunctionData(name, values),
  });
  if (kind === 'token') return [ask('getApproved', [tokenId]), ask('ownerOf', [tokenId])];
  const given = ask(kind === 'amount' ? 'allowance' : 'isApprovedForAll', [wallet, spender]);
  return [given, ask('balanceOf', [wallet])];
}

type Known = {
  readonly wallet: string;
  readonly text: KnownContract | undefined;
  readonly judge: TokenJudge;
};

/** @returns nothing where the contract says that the approval no longer exists */
function toLive(
  row: GivenApproval,
  answers: readonly [StateAnswer, StateAnswer],
  known: Known,
): LiveApproval[] {
  const found = { amount: amountOf, token: tokenOf, all: allOf }[row.kind](row, answers, known);
  if (found === undefined) return [];
  const { contract, kind, spender, tokenId, changedBlock } = row;
  const { name = null, symbol = null, decimals = null } = known.text ?? {};
  const { amount, atRisk, isConfirmed } = found;
  const { trust, isListed, imitates } = known.judge({ contract, name, symbol });
  const isSpam = trust === 'spam' || (row.isDoubted && trust !== 'verified');
  const inUnits = (value: bigint | null) =>
    value === null || decimals === null ? null : formatUnits(value, decimals);
  return [
    {
      token_address: contract,
      token_name: name,
      token_symbol: symbol,
      spender,
      kind,
      amount: amount?.toString() ?? null,
      amount_formatted: inUnits(amount),
      is_unlimited: kind === 'all' || (amount ?? 0n) >= unlimited,
      token_id: kind === 'token' ? tokenId.toString() : null,
      value_at_risk: atRisk?.toString() ?? null,
      value_at_risk_formatted: kind === 'amount' ? inUnits(atRisk) : (atRisk?.toString() ?? null),
      is_confirmed: isConfirmed,
      last_changed_block: changedBlock.toString(),
      possible_spam: isSpam,
      ...(isListed !== undefined && { verified_contract: isListed }),
      ...(imitates !== undefined && { imitates }),
    },
  ];
}

/** `amount` is the amount of an ERC-20, null of NFTs; `atRisk` is null where it is not known. */
type Found = {
  readonly amount: bigint | null;
  readonly atRisk: bigint | null;
  readonly isConfirmed: boolean;
};
type Judge = (
  row: GivenApproval,
  answers: readonly [StateAnswer, StateAnswer],
  known: Known,
) => Found | undefined;

const amountOf: Judge = (row, [allowance, held]) => {
  const left = wordOf(allowance);
  if (left === 0n) return undefined;
  const amount = left ?? row.amount;
  const balance = wordOf(held);
  const isConfirmed = left !== undefined;
  if (balance === undefined) return { amount, atRisk: null, isConfirmed };
  const isCovered = balance >= amount;
  return { amount, atRisk: isCovered ? amount : balance, isConfirmed };
};

const tokenOf: Judge = ({ spender }, [approved, owner], { wallet }) => {
  const [by, of] = [accountOf(approved), accountOf(owner)];
  // A contract that fails for a token that is gone also says so.
  if (of !== undefined ? of !== wallet : approved === null) return undefined;
  if (by !== undefined && by !== spender) return undefined;
  return { amount: null, atRisk: of === undefined ? null : 1n, isConfirmed: by !== undefined };
};

const allOf: Judge = ({ held }, [answer]) => {
  const word = wordOf(answer);
  return word === 0n ? undefined : { amount: null, atRisk: BigInt(held), isConfirmed: word !== undefined };
};
