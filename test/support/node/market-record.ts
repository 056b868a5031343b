import { type Call, fieldOf, quantityOf } from './flaw.ts';

/** The priority fee where no node suggests one, or nobody has paid one lately, in wei per unit of gas. */
export const supposedTip = 1_000_000_000n;

/** The prices that a node has told, in wei per unit of gas. */
export type MarketRecord = {
  /** The highest base fee told of the block with this number; undefined when none was told. */
  baseFee(block: bigint): bigint | undefined;
  /** The highest priority fee, or gas price, suggested until this time in milliseconds of the epoch. */
  tip(until: number): bigint | undefined;
  /** Takes notice of what was answered. */
  told(call: Call, result: unknown): void;
};

export function recordMarket(): MarketRecord {
  const baseFees = new Map<bigint, bigint>();
  const tips: { readonly at: number; readonly tip: bigint }[] = [];
  const noteTip = (tip: bigint | undefined) => {
    if (tip !== undefined) tips.push({ at: Date.now(), tip });
  };
  const noteBaseFee = (number: bigint | undefined, fee: bigint | undefined) => {
    if (number === undefined || fee === undefined) return;
    const known = baseFees.get(number);
    if (known === undefined || known < fee) baseFees.set(number, fee);
  };

  return {
    baseFee: (block) => baseFees.get(block),
    tip: (until) =>
      tips
        .filter(({ at }) => at <= until)
        .reduce<bigint | undefined>(
          (most, { tip }) => (most === undefined || tip > most ? tip : most),
          undefined,
        ),
    told({ method }, result) {
      if (method === 'eth_maxPriorityFeePerGas' || method === 'eth_gasPrice') noteTip(quantityOf(result));
      if (method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash') {
        noteBaseFee(quantityOf(fieldOf(result, 'number')), quantityOf(fieldOf(result, 'baseFeePerGas')));
      }
      if (method === 'eth_feeHistory') {
        const rewards = fieldOf(result, 'reward');
        const paid = (Array.isArray(rewards) ? rewards.flat() : [])
          .map(quantityOf)
          .filter((tip) => tip !== 0n);
        for (const tip of paid.length > 0 ? paid : [supposedTip]) noteTip(tip);
      }
    },
  };
}
