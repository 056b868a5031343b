import type { MintStep, StepFacts } from '../../../src/rwa/mint-worker/context/lane-context.ts';
import type { LaneId } from '../../../src/rwa/mint-worker/stores/lane-store.ts';
import type { Chain } from './chain.ts';
import { confirmations } from './constants.ts';
import type { Process } from './process.ts';

/* What must not happen while a life goes on, and does not show any more when it is over. */

export type Worker = {
  readonly process: Process;
  isStopping: boolean;
  /** What goes wrong with it after its next step of this kind. */
  ambush: { readonly step: string; readonly happen: () => void } | undefined;
  stop(): Promise<void>;
};

/** Steps that a lane names after their transaction of the database. */
const committed: readonly MintStep[] = ['stored', 'confirmed', 'finalized', 'reverted', 'released'];
/** Those after which the nonce of the transaction is used for good. */
const ending: readonly MintStep[] = ['finalized', 'reverted', 'released'];

export type Trespasses = ReturnType<typeof noteTrespasses>;

/** @param isDeceived whether how deep a block is does not count: a node leads to a chain of its own, or final blocks were replaced */
export function noteTrespasses(chain: Chain, isDeceived: () => boolean) {
  const found = new Set<string>();
  const holders = new Map<string, Worker>();
  const depthOf = (block: number | bigint) => chain.head().number - Number(block) + 1;

  const holds = (worker: Worker, signer: string, step: MintStep) => {
    const holder = holders.get(signer) ?? worker;
    const isWell = holder.process.isAlive() && !holder.process.hasFrozen() && !holder.isStopping;
    const [name, other] = [worker.process.name, holder.process.name];
    if (step === 'taken') holders.set(signer, worker);
    if (holder === worker) return;
    if (step === 'taken' && isWell) found.add(`${name} takes the lane from ${other}, which is well`);
    if (committed.includes(step)) found.add(`${name} has ${step} in the lane of ${other}`);
  };

  return {
    found: found as ReadonlySet<string>,
    /** Takes notice of a step of a lane. */
    step(worker: Worker, { signer }: LaneId, step: MintStep, { block, nonce }: StepFacts): void {
      holds(worker, signer, step);
      if (isDeceived()) return;
      const used = chain.finalized()?.state.nonces.get(signer.toLowerCase()) ?? 0;
      if (ending.includes(step) && Number(nonce) >= used)
        found.add(`nonce ${nonce} is ${step} and not final`);
      if (step === 'confirmed' && block !== undefined && depthOf(BigInt(block)) < confirmations)
        found.add(`nonce ${nonce} is confirmed in a block that is not deep enough`);
    },
    /** Takes notice of blocks that the ledger of owners reads. */
    read(to: bigint): void {
      if (!isDeceived() && depthOf(to) < confirmations)
        found.add('the ledger of owners reads a block too early');
    },
    /** Takes notice of the newest block of a snapshot. */
    taken([row]: readonly { readonly max?: string | null }[]): void {
      const final = chain.finalized()?.number ?? -1;
      if (!isDeceived() && Number(row?.max ?? -1) > final)
        found.add('a snapshot is taken of a block that is not final');
    },
    note: (text: string) => void found.add(text),
  };
}
