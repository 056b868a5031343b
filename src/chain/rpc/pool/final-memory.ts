import type { BlockId } from '../transport/node-look.ts';
import { graceMs, isInUse } from './node-judgement.ts';
import type { Member } from './node-member.ts';

/** The newest block that is agreed to be final, over all polls. */
export type FinalMemory = {
  readonly block: BlockId | undefined;
  set(block: BlockId): void;
  /**
   * Forgets the block when no node has had it since it was agreed on: at each poll, after nodes are judged. A block that
   * nodes have had for some seconds is never forgotten.
   */
  review(): void;
};

// Longer than a node tells of nonsense by mistake, and no time for whoever waits for finality.
const momentMs = 5_000;

export function createFinalMemory(members: readonly Member[], now: () => number): FinalMemory {
  let block: BlockId | undefined;
  let settled: BlockId | undefined;
  let trial: (BlockId & { readonly at: number }) | undefined;
  let deniedSince: number | undefined;

  const settle = (): void => {
    if (trial === undefined || now() - trial.at < momentMs || !isShown(members, trial)) return;
    settled = trial;
    trial = block === undefined || block.number <= settled.number ? undefined : { ...block, at: now() };
  };
  const forget = (): void => {
    block = settled;
    trial = undefined;
    deniedSince = undefined;
    // What they contradicted is final no more; the next look judges them by what is.
    for (const member of members) member.forked = undefined;
  };

  return {
    get block() {
      return block;
    },
    set(found) {
      block = found;
      trial ??= { ...found, at: now() };
    },
    review() {
      settle();
      const isDenied =
        block !== undefined && block.number !== settled?.number && isDeniedBy(members, block, now());
      deniedSince = isDenied ? (deniedSince ?? now()) : undefined;
      if (deniedSince !== undefined && now() - deniedSince >= momentMs) forget();
    },
  };
}

const reaches = ({ seen }: Member, { number }: BlockId): boolean =>
  seen !== undefined && seen.head.number >= number;

/** Whether a node that does not contradict what is final has come to the block. */
const isShown = (members: readonly Member[], block: BlockId): boolean =>
  members.some((member) => isInUse(member.judgement.state) && reaches(member, block));

/** Whether nodes answer, and none has the block; one that fails may have it for a while. */
function isDeniedBy(members: readonly Member[], block: BlockId, now: number): boolean {
  const mayHave = (member: Member) =>
    !['foreign', 'forked'].includes(member.judgement.state) &&
    reaches(member, block) &&
    now - member.seenAt <= graceMs;
  const answers = ({ judgement: { state } }: Member) => isInUse(state) || state === 'forked';
  return members.some(answers) && !members.some(mayHave);
}
