import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { MoveVerdict } from '../classify/stored-moves.ts';
import {
  type CheckedBlock,
  endCheck,
  isApproved,
  knowsToken,
  listDueChecks,
  postponeCheck,
  saveVerdicts,
  type TransferVerdict,
} from '../store/checks/check-store.ts';
import type { SuspectTransfer } from '../store/rows/check-rows.ts';
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
 * Finds out whether transfers in the name of accounts that did not sign are believable. It reads approvals that the
 * account signed. Without an approval it asks the contract for this account's balances before and after the block.
 * The returned function checks some blocks, and returns whether there may be more. It never rejects because of a node.
 */
export function createTransferChecker({ chainId, db, states, log }: CheckerOptions) {
  const checkBlock = async (block: CheckedBlock): Promise<void> => {
    const verdicts: TransferVerdict[] = [];
    const doubted: SuspectTransfer[] = [];
    const consenting = new Set<SuspectTransfer>();
    for (const transfer of block.suspects) {
      if (await isApproved(db, chainId, block.number, transfer)) {
        verdicts.push({ transfer, verification: 'approved' });
        continue;
      }
      doubted.push(transfer);
      if (await knowsToken(db, chainId, block.number, transfer)) consenting.add(transfer);
    }
    const asked = await askAbout(states, block.hash, doubted);
    if (asked.failure !== undefined) {
      log.debug({ err: asked.failure, chainId, number: block.number }, 'transfers could not all be checked');
    }
    verdicts.push(
      ...doubted.flatMap((transfer) => verdictOf(transfer, asked, consenting.has(transfer)) ?? []),
    );
    await saveVerdicts(db, chainId, block, verdicts);
    const isOver = asked.failure === undefined || block.tries + 1 >= mostTries;
    await (isOver ? endCheck : postponeCheck)(db, chainId, block);
  };

  return async (): Promise<boolean> => {
    const blocks = await listDueChecks(db, chainId, blocksAtOnce);
    for (const block of blocks) await checkBlock(block);
    return blocks.length === blocksAtOnce;
  };
}

type Answers = {
  /** By account. */
  readonly kinds: ReadonlyMap<string, AccountKind>;
  /** What accounts had before and after the block, by {@link keyOf}. */
  readonly before: ReadonlyMap<string, Amount | undefined>;
  readonly after: ReadonlyMap<string, Amount | undefined>;
  /** Why nodes did not answer everything. */
  readonly failure: unknown;
};

const keyOf = ({ standard, token, tokenId, account }: StateQuestion) =>
  `${standard}${token}${tokenId}${account}`;

const holdingOf = ({ standard, token, tokenId }: SuspectTransfer, account: string): StateQuestion => ({
  standard,
  token,
  tokenId,
  account,
});

/** Asks what the senders are and had, and what recipients had. Never rejects. */
async function askAbout(
  states: AccountStates,
  blockHash: string,
  transfers: readonly SuspectTransfer[],
): Promise<Answers> {
  const senders = new Set(transfers.map(({ from }) => from));
  const holdings = transfers
    .filter(({ value }) => value > 0n)
    .flatMap((transfer) => [
      holdingOf(transfer, transfer.from),
      ...(tellsArrival(transfer) ? [holdingOf(transfer, transfer.to)] : []),
    ]);
  const distinct = [...new Map(holdings.map((holding) => [keyOf(holding), holding])).values()];
  let failure: unknown;
  const unless = <T>(none: T, work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      failure ??= error;
      return none;
    });
  const kinds = await unless<Answers['kinds']>(new Map(), () => states.kindsOf([...senders], blockHash));
  const [before, after] = await unless([[], []], async () => {
    if (distinct.length === 0) return [[], []];
    const parent = await states.parentOf(blockHash);
    return [await states.amountsOf(distinct, parent), await states.amountsOf(distinct, blockHash)];
  });
  if ([...before, ...after].includes(undefined)) failure ??= new Error('nodes do not answer some calls');
  const named = (amounts: readonly (Amount | undefined)[]) =>
    new Map(distinct.map((holding, place) => [keyOf(holding), amounts[place]]));
  return { kinds, before: named(before), after: named(after), failure };
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
): TransferVerdict | undefined {
  const { from, to, value, change: logged } = transfer;
  const kind = answers.kinds.get(from);
  const isUnconsented = kind === 'person' && !isConsenting;
  const unconsented = isUnconsented ? ({ unconsented: true } as const) : {};
  const change = value === 0n ? 0n : changeOf(answers, holdingOf(transfer, from));
  if (change === 0n && (value === 0n || logged !== 0n)) {
    const isForged = kind === 'person' || kind === 'delegated';
    return isForged ? { transfer, verification: 'forged' } : undefined;
  }
  // If the logs of the block cancel each other out, the change proves nothing.
  if (change === undefined || change !== logged || logged === 0n) {
    return isUnconsented ? { transfer, ...unconsented } : undefined;
  }
  const verdict: MoveVerdict = { verification: 'state-checked', ...unconsented };
  const received = tellsArrival(transfer) ? changeOf(answers, holdingOf(transfer, to)) : undefined;
  const isShort = received !== undefined && received !== value && received >= 0n;
  return { transfer, ...verdict, ...(isShort && { received }) };
}
