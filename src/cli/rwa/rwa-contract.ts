import type { RwaInput } from '../../rwa/assets/rwa-input.ts';
import { contractKey, examineContracts, keepVerdicts } from '../shared/contract-door.ts';
import { OperationError, UsageError } from '../shared/failure.ts';
import type { Operator } from '../shared/session.ts';

export const notExamined =
  'The contract was not asked for on the network: tallystick doctor does that later.';

type Named = Pick<RwaInput, 'chainId' | 'contractAddress' | 'isClaimable'>;

type Parts = Pick<Operator, 'db' | 'clients'>;

/**
 * Asks the networks about the contracts of new RWAs.
 * @returns the fault of the contract of one RWA; undefined when all are good
 * @throws OperationError when no node of a network answers
 */
export async function contractFaults(
  operator: Parts,
  inputs: readonly Named[],
): Promise<(input: Named) => string | undefined> {
  const examined = await examineContracts(operator, inputs.map(named));
  await keepVerdicts(operator.db, examined.values());
  const unknown = [...examined.values()].find(({ verdict }) => verdict === 'unknown');
  if (unknown !== undefined) {
    const { chainId, detail } = unknown;
    throw new OperationError(
      `Whether network ${chainId} has the contract cannot be found out: ${detail}\n` +
        'Nothing was created. Try again when a node answers (tallystick doctor), or leave the question out: --offline.',
    );
  }
  return (input) => {
    const found = examined.get(contractKey(named(input)));
    return found === undefined || found.verdict === 'fit' ? undefined : found.detail;
  };
}

/** @throws UsageError when NFTs of the RWA could not be minted; OperationError when no node answers */
export async function admitContract(operator: Parts, input: Named): Promise<void> {
  const message = (await contractFaults(operator, [input]))(input);
  if (message !== undefined) throw new UsageError(`--contract-address: ${message}`);
}

const named = ({ chainId, contractAddress, isClaimable }: Named) => ({
  chainId,
  contract: contractAddress,
  isClaimable,
});
