import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { MoveVerdict } from '../classify/stored-moves.ts';
import {
  type CheckedBlock,
  endCheck,
  hasSignedFor,
  isApproved,
  knowsToken,
  type LogVerdict,
  listDueChecks,
  postponeCheck,
  saveVerdicts,
} from '../store/checks/check-store.ts';
import type { SuspectApproval, SuspectTransfer } from '../store/rows/check-rows.ts';
import type { AccountKind, AccountStates, Amount, StateQuestion } from './account-states.ts';

type CheckerOptions = {
  readonly chainId: string;
  readonly db: Database;
  readonly states: AccountStates;
  readonly log: Logger;
};

const blocksAtOnce = 10;
const mostTries = 3;

/**
 * Finds out whether transfers and approvals in the name of accounts that did not sign are believable. It reads
 * approvals that the account signed. Without an approval it asks the contract for this account's balances before and
 * after the block. It asks for the allowances of owners who signed for the token before. The returned function checks
 * some blocks, and returns whether there may be more. It never rejects because of a node.
 */
export function createTransferChecker({ chainId, db, states, log }: CheckerOptions) {
  const checkApprovals = async (
    { number, hash, suspects: { approvals } }: CheckedBlock,
    kinds: ReadonlyMap<string, AccountKind>,
  ): Promise<LogVerdict[]> => {
    const known: SuspectApproval[] = [];
    const verdicts: LogVerdict[] = [];
    for (const approval of approvals) {
      if (kinds.get(approval.owner) === 'contract')
        verdicts.push({ ...ofApproval(approval), isOfContract: true });
      else if (await hasSignedFor(db, chainId, number, approval)) known.push(approval);
    }
    const confirmed = known.length === 0 ? [] : await states.confirmationsOf(known, hash);
    const believed = known.filter((_, place) => confirmed[place]);
    return [
      ...verdicts,
      ...believed.map((approval) => ({
        ...ofApproval(approval),
        verification: 'state-checked' as const,
      })),
    ];
  };

  const checkBlock = async (block: CheckedBlock): Promise<void> => {
    const { transfers, loud, approvals } = block.suspects;
    const verdicts: LogVerdict[] = [];
    const doubted: SuspectTransfer[] = [];
    const consenting = new Set<SuspectTransfer>();
    let failure: unknown;
    const unless = <T>(none: T, work: () => Promise<T>): Promise<T> =>
      work().catch((error: unknown) => {
        failure ??= error;
        return none;
      });
    const accounts = new Set([
      ...[...transfers, ...loud].map(({ from }) => from),
      ...approvals.map(({ owner }) => owner),
    ]);
    const kinds = await unless<Answers['kinds']>(new Map(), () => states.kindsOf([...accounts], block.hash));
    for (const transfer of [...transfers, ...loud.filter(({ from }) => kinds.get(from) === 'delegated')]) {
      if (await isApproved(db, chainId, block.number, transfer)) {
        verdicts.push({ ...ofTransfer(transfer), verification: 'approved' });
        continue;
      }
      doubted.push(transfer);
      if (await knowsToken(db, chainId, block.number, transfer)) consenting.add(transfer);
    }
    const amounts = await unless(noAmounts, () => amountsAround(states, block.hash, doubted));
    if (amounts.isPartial) failure ??= new Error('nodes do not answer some calls');
    const answers = { kinds, ...amounts };
    verdicts.push(
      ...doubted.flatMap((transfer) => verdictOf(transfer, answers, consenting.has(transfer)) ?? []),
      ...(await unless([], () => checkApprovals(block, kinds))),
    );
    if (failure !== undefined)
      log.debug({ err: failure, chainId, number: block.number }, 'transfers could not all be checked');
    await saveVerdicts(db, chainId, block, verdicts);
    const isOver = failure === undefined || block.tries + 1 >= mostTries;
    await (isOver ? endCheck : postponeCheck)(db, chainId, block);
  };

  return async (): Promise<boolean> => {
    const blocks = await listDueChecks(db, chainId, blocksAtOnce);
    for (const block of blocks) await checkBlock(block);
    return blocks.length === blocksAtOnce;
  };
}

const ofTransfer = ({ transaction, logIndex, from, to }: SuspectTransfer) => ({
  transaction,
  logIndex,
  wallets: [from, to],
});

const ofApproval = ({ transaction, logIndex, owner }: SuspectApproval) => ({
  transaction,
  logIndex,
  wallets: [owner],
});

type Answers = Amounts & {
  /** By account. */
  readonly kinds: ReadonlyMap<string, AccountKind>;
};

type Amounts = {
  /** What accounts had before and after the block, by {@link keyOf}. */
  readonly before: ReadonlyMap<string, Amount | undefined>;
  readonly after: ReadonlyMap<string, Amount | undefined>;
  /** Whether nodes did not answer everything. */
  readonly isPartial: boolean;
};

const noAmounts: Amounts = { before: new Map(), after: new Map(), isPartial: false };

const keyOf = ({ standard, token, tokenId, account }: StateQuestion) =>
  `${standard}${token}${tokenId}${account}`;

const holdingOf = ({ standard, token, tokenId }: SuspectTransfer, account: string): StateQuestion => ({
  standard,
  token,
  tokenId,
  account,
});

/** Asks what senders and recipients had. @throws the node's error */
async function amountsAround(
  states: AccountStates,
  blockHash: string,
  transfers: readonly SuspectTransfer[],
): Promise<Amounts> {
  const holdings = transfers
    .filter(({ value }) => value > 0n)
    .flatMap((transfer) => [
      holdingOf(transfer, transfer.from),
      ...(tellsArrival(transfer) ? [holdingOf(transfer, transfer.to)] : []),
    ]);
  const distinct = [...new Map(holdings.map((holding) => [keyOf(holding), holding])).values()];
  if (distinct.length === 0) return noAmounts;
  const parent = await states.parentOf(blockHash);
  const before = await states.amountsOf(distinct, parent);
  const after = await states.amountsOf(distinct, blockHash);
  const named = (amounts: readonly (Amount | undefined)[]) =>
    new Map(distinct.map((holding, place) => [keyOf(holding), amounts[place]]));
  const isPartial = [...before, ...after].includes(undefined);
  return { before: named(before), after: named(after), isPartial };
}

/** With other transfers to the recipient in the block, nobody can say which transfer was short. */
const tellsArrival = ({ standard, gain, value }: SuspectTransfer) => standard === 20 && gain === value;

/** Returns by how much the block changed the account's amount; undefined where the contract does not report it. */
function changeOf({ before, after }: Answers, holding: StateQuestion): bigint | undefined {
  const had = before.get(keyOf(holding))?.amount;
  const has = after.get(keyOf(holding))?.amount;
  return had === undefined || has === undefined ? undefined : has - had;
}

/** @returns undefined where nothing is known of the transfer, not even that its sender has no code */
function verdictOf(
  transfer: SuspectTransfer,
  answers: Answers,
  isConsenting: boolean,
): LogVerdict | undefined {
  const of = ofTransfer(transfer);
  const { from, to, value, change: logged } = transfer;
  const kind = answers.kinds.get(from);
  const isUnconsented = kind === 'person' && !isConsenting;
  const unconsented = isUnconsented ? ({ unconsented: true } as const) : {};
  const change = value === 0n ? 0n : changeOf(answers, holdingOf(transfer, from));
  if (change === 0n && (value === 0n || logged !== 0n)) {
    const isForged = kind === 'person' || kind === 'delegated';
    return isForged ? { ...of, verification: 'forged' } : undefined;
  }
  // If the logs of the block cancel each other out, the change proves nothing.
  if (change === undefined || change !== logged || logged === 0n) {
    return isUnconsented ? { ...of, ...unconsented } : undefined;
  }
  const verdict: MoveVerdict = { verification: 'state-checked', ...unconsented };
  const received = tellsArrival(transfer) ? changeOf(answers, holdingOf(transfer, to)) : undefined;
  const isShort = received !== undefined && received !== value && received >= 0n;
  return { ...of, ...verdict, ...(isShort && { received }) };
}
