import type { Logger } from '../../../base/log.ts';
import type { Database } from '../../../contract/transaction.ts';
import type { MoveVerdict } from '../classify/stored-moves.ts';
import type { Verification } from '../decode/domain.ts';
import { isAtAll, isError } from '../follow/node-error.ts';
import {
  type CheckedBlock,
  isApproved,
  listDueChecks,
  postponeCheck,
  saveVerdicts,
  type TransferVerdict,
} from '../store/checks/check-store.ts';
import type { SuspectTransfer } from '../store/rows/check-rows.ts';
import type { AccountStates } from './account-states.ts';
import { createContractMemory } from './contract-memory.ts';

/** How many transfers of a block turned out to be what, and how many questions that took. */
export type CheckOutcome = {
  readonly verdicts: Readonly<Record<Verification | 'unknown', number>>;
  readonly questions: number;
};

export type TransferChecker = {
  /** Checks the transfers of some blocks. @returns whether there may be more. Never rejects because of a node. */
  check(): Promise<boolean>;
};

type CheckerOptions = {
  readonly chainId: string;
  readonly db: Database;
  readonly states: AccountStates;
  readonly log: Logger;
  readonly onChecked?: (outcome: CheckOutcome) => void;
};

const blocksAtOnce = 10;
// What a block has beyond these stays unknown: the questions of a block are bounded, whatever it holds.
const questionsInBlock = 200;
const approvalsInBlock = 100;
const samplesOfContract = 3;

/**
 * Finds out whether transfers in the name of accounts that did not sign are believable: by approvals that the account
 * signed, else by what the contract says of its balances before and after the block. A contract is asked for some of its
 * transfers; when all of these agree, the rest is taken to be like them, for some time.
 */
export function createTransferChecker(options: CheckerOptions): TransferChecker {
  const { chainId, db, states, log, onChecked } = options;
  const memory = createContractMemory();

  const checkBlock = async (block: CheckedBlock): Promise<void> => {
    const verdicts: TransferVerdict[] = [];
    const asking = createBlockQuestions(states, block.hash);
    try {
      await judge({ block, asking, verdicts, chainId, db, memory });
    } catch (err) {
      // What is known by then is kept: no node has the state.
      if (!isAtAll(err, isError) && !(err instanceof NoQuestionsLeft)) {
        log.debug({ err, chainId, number: block.number }, 'transfers could not be checked');
        await postponeCheck(db, chainId, block);
        return;
      }
    }
    await saveVerdicts(db, chainId, block, verdicts);
    onChecked?.({ verdicts: countsOf(block, verdicts), questions: asking.asked() });
  };

  return {
    async check() {
      const blocks = await listDueChecks(db, chainId, blocksAtOnce);
      for (const block of blocks) await checkBlock(block);
      return blocks.length === blocksAtOnce;
    },
  };
}

class NoQuestionsLeft extends Error {}

type BlockQuestions = {
  /** By how much the block changed what the account has of it; undefined where the contract does not say. */
  changeOf(transfer: SuspectTransfer, account: string): Promise<bigint | undefined>;
  isPerson(transfer: SuspectTransfer): Promise<boolean>;
  asked(): number;
};

/** @throws NoQuestionsLeft by its functions, after {@link questionsInBlock} */
function createBlockQuestions(states: AccountStates, hash: string): BlockQuestions {
  let asked = 0;
  let parent: Promise<string | undefined> | undefined;
  const count = () => {
    asked += 1;
    if (asked > questionsInBlock) throw new NoQuestionsLeft();
  };
  return {
    async changeOf({ standard, token, tokenId }, account) {
      count();
      parent ??= states.parentOf(hash);
      const before = await parent;
      if (before === undefined) return undefined;
      const holding = { standard, token, tokenId, account };
      count();
      const had = await states.amountOf(holding, before);
      if (had === undefined) return undefined;
      count();
      const has = await states.amountOf(holding, hash);
      return has === undefined ? undefined : has - had;
    },
    isPerson({ from }) {
      count();
      return states.isPerson(from, hash);
    },
    asked: () => Math.min(asked, questionsInBlock),
  };
}

type Case = {
  readonly chainId: string;
  readonly db: Database;
  readonly memory: ReturnType<typeof createContractMemory>;
  readonly block: CheckedBlock;
  readonly asking: BlockQuestions;
  /** What is found is added here, so that it is known also after a failure. */
  readonly verdicts: TransferVerdict[];
};

async function judge(now: Case): Promise<void> {
  const { chainId, db, block, verdicts } = now;
  const groups = new Map<string, SuspectTransfer[]>();
  for (const [place, transfer] of block.suspects.entries()) {
    if (place < approvalsInBlock && (await isApproved(db, chainId, block.number, transfer))) {
      verdicts.push({ transfer, verification: 'approved' });
      continue;
    }
    const group = groups.get(transfer.token);
    if (group === undefined) groups.set(transfer.token, [transfer]);
    else group.push(transfer);
  }
  for (const [token, transfers] of groups) {
    await judgeContract(
      now,
      token,
      transfers.filter(({ value }) => value > 0n),
    );
    for (const transfer of transfers.filter(({ value }) => value === 0n)) {
      // It moves nothing by what it says itself.
      if (await now.asking.isPerson(transfer)) verdicts.push({ transfer, verification: 'forged' });
    }
  }
}

async function judgeContract(now: Case, token: string, transfers: readonly SuspectTransfer[]): Promise<void> {
  const { block, memory, verdicts } = now;
  if (transfers.length === 0) return;
  const known = memory.find(token, block.number);
  const found = known === undefined ? await sample(now, transfers) : new Map<SuspectTransfer, MoveVerdict>();
  const kinds = new Set([...found.values()].map(({ verification }) => verification));
  const [only] = kinds;
  const rest = known ?? (kinds.size === 1 ? only : undefined);
  if (known === undefined && rest !== undefined) memory.keep(token, block.number, rest);
  for (const transfer of transfers) {
    const verdict = found.get(transfer) ?? (rest && { verification: rest });
    if (verdict !== undefined) verdicts.push({ transfer, ...verdict });
  }
}

/** Asks about some of the transfers, of different senders. */
async function sample(
  { asking }: Case,
  transfers: readonly SuspectTransfer[],
): Promise<Map<SuspectTransfer, MoveVerdict>> {
  const found = new Map<SuspectTransfer, MoveVerdict>();
  // Where the block moves it back and forth, nothing shows.
  const telling = transfers.filter(({ change }) => change !== 0n);
  const bySender = [...new Map(telling.map((transfer) => [transfer.from, transfer])).values()];
  for (const transfer of bySender.slice(0, samplesOfContract)) {
    const change = await asking.changeOf(transfer, transfer.from);
    if (change === undefined) continue;
    if (change !== 0n)
      found.set(transfer, { verification: 'state-checked', ...(await arrivalOf(asking, transfer)) });
    else if (await asking.isPerson(transfer)) found.set(transfer, { verification: 'forged' });
  }
  return found;
}

/** What the recipient got, where that is not what the transfer says: fees on transfers, balances that change by themselves. */
async function arrivalOf(
  asking: BlockQuestions,
  transfer: SuspectTransfer,
): Promise<{ received: bigint } | undefined> {
  const { standard, to, value, gain } = transfer;
  // With other transfers to it in the block, it is not to be told which of them was short.
  if (standard !== 20 || gain !== value) return undefined;
  const received = await asking.changeOf(transfer, to);
  return received === undefined || received === value || received < 0n ? undefined : { received };
}

function countsOf(
  { suspects }: CheckedBlock,
  verdicts: readonly TransferVerdict[],
): CheckOutcome['verdicts'] {
  const counts = { signed: 0, approved: 0, 'state-checked': 0, forged: 0, unknown: 0 };
  for (const { verification } of verdicts) counts[verification] += 1;
  counts.unknown = suspects.length - verdicts.length;
  return counts;
}
