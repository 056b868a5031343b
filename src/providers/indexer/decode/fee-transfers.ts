import type { Erc20Movement } from './domain.ts';
import type { RawReceipt, RawTransaction } from './raw-block.ts';

/** Tempo: fees are paid to this contract. Source: the protocol's specification of fees, docs.tempo.xyz. */
const feeManager = '0xfeec000000000000000000000000000000000000';

/** The movements, with those marked that paid the fee of the transaction in a token. */
export function withFee(
  movements: readonly Erc20Movement[],
  { from: sender }: Pick<RawTransaction, 'from'>,
  { feeToken, feePayer }: Pick<RawReceipt, 'feeToken' | 'feePayer'>,
): readonly Erc20Movement[] {
  const payer = feePayer ?? sender;
  // What was not used may come back from the same contract.
  const pays = ({ from, to }: Erc20Movement) =>
    (from === payer && to === feeManager) || (from === feeManager && to === payer);
  return movements.map((movement) =>
    movement.token === feeToken && pays(movement) ? { ...movement, kind: 'fee' } : movement,
  );
}
