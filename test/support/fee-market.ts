import { hexOf } from './node/flaw.ts';

/** How the base fee goes from block to block. */
type Course = 'rising' | 'falling' | 'spike';

export type FeeMarket = {
  /** Lets the base fee of the blocks that are mined from now on go this way, until {@link calm}. */
  follow(course: Course, options?: { readonly most?: bigint; readonly least?: bigint }): void;
  /** Sets the base fee of every block from now on, in wei. */
  hold(baseFee: bigint): void;
  /** Ends the course. The next block has a base fee of 1 gwei; the fees after it follow from the use of gas. */
  calm(): Promise<void>;
  /** Sets the base fee of the next block, if there is a course. */
  beforeBlock(): Promise<void>;
};

const gwei = 1_000_000_000n;
// Blocks for which a spike lasts, after as many calm ones.
const spikeBlocks = 6;

/** The base fee of the nth block of a course, in wei. On Ethereum one changes by an eighth at most. */
const courses: Readonly<Record<Course, (block: number, least: bigint, most: bigint) => bigint>> = {
  rising: (block, least, most) =>
    steps(
      least,
      block,
      (fee) => fee + fee / 8n,
      (fee) => fee < most,
    ),
  falling: (block, least, most) =>
    steps(
      most,
      block,
      (fee) => fee - fee / 8n,
      (fee) => fee > least,
    ),
  spike: (block, least, most) => (Math.floor(block / spikeBlocks) % 2 === 1 ? most : least),
};

function steps(
  from: bigint,
  count: number,
  step: (fee: bigint) => bigint,
  mayStep: (fee: bigint) => boolean,
): bigint {
  let fee = from;
  for (let done = 0; done < count && mayStep(fee); done += 1) fee = step(fee);
  return fee;
}

/**
 * A market of a local chain whose prices are driven. It decides on blocks that are mined on request; those that a chain
 * mines by itself follow the use of gas.
 */
export function createFeeMarket(call: (method: string, ...params: unknown[]) => Promise<unknown>): FeeMarket {
  let feeOf: ((block: number) => bigint) | undefined;
  let block = 0;
  return {
    follow(course, { least = gwei, most = 80n * gwei } = {}) {
      block = 0;
      feeOf = (number) => courses[course](number, least, most);
    },
    hold(baseFee) {
      feeOf = () => baseFee;
    },
    async calm() {
      feeOf = undefined;
      await call('anvil_setNextBlockBaseFeePerGas', hexOf(gwei));
    },
    async beforeBlock() {
      if (feeOf === undefined) return;
      await call('anvil_setNextBlockBaseFeePerGas', hexOf(feeOf(block)));
      block += 1;
    },
  };
}
