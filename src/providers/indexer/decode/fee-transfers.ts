import type { Erc20Movement } from './domain.ts';

/** Tempo: fees are paid to this contract. Source: the protocol's specification of fees, docs.tempo.xyz. */
const feeManager = '0xfeec000000000000000000000000000000000000';

type Fee = {
  readonly token: string;
  readonly payer: string;
  /** In the smallest unit of the token; null where that is not known. */
  readonly amount: bigint | null;
};

/** Returns the movements, and marks the movements that paid the fee of the transaction in a token. */
export function withFee(movements: readonly Erc20Movement[], fee: Fee): readonly Erc20Movement[] {
  const last = feesAtEnd(movements, fee);
  if (last > 0) {
    return movements.map((movement, place) =>
      place < movements.length - last ? movement : { ...movement, kind: 'fee' },
    );
  }
  const { token, payer } = fee;
  // The unused part may come back from the same contract.
  const pays = ({ from, to }: Erc20Movement) =>
    (from === payer && to === feeManager) || (from === feeManager && to === payer);
  return movements.map((movement) =>
    movement.token === token && pays(movement) ? { ...movement, kind: 'fee' } : movement,
  );
}

/** Celo moves the fee last. @returns how many of the last movements add up to exactly the fee of the payer */
function feesAtEnd(movements: readonly Erc20Movement[], { token, payer, amount }: Fee): number {
  if (amount === null || amount === 0n) return 0;
  let paid = 0n;
  for (let count = 1; count <= movements.length; count += 1) {
    const movement = movements[movements.length - count];
    if (movement?.token !== token || (movement.from === payer) === (movement.to === payer)) return 0;
    paid += movement.from === payer ? movement.value : -movement.value;
    if (paid === amount) return count;
  }
  return 0;
}
