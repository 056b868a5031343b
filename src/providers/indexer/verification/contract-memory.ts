import type { Verification } from '../decode/domain.ts';

const mostContracts = 10_000;
// Whoever forges may behave well for a while, and contracts can be changed by their owners.
const goodForBlocks = 100n;

type Known = { readonly verification: Verification; readonly block: bigint };

/** What the transfers of a contract turned out to be, for the blocks around those that were checked. */
export function createContractMemory() {
  // A Map iterates in the order of insertion, so its first key is the oldest.
  const contracts = new Map<string, Known>();
  return {
    find(contract: string, block: bigint): Verification | undefined {
      const known = contracts.get(contract);
      if (known === undefined) return undefined;
      const distance = block > known.block ? block - known.block : known.block - block;
      return distance < goodForBlocks ? known.verification : undefined;
    },
    keep(contract: string, block: bigint, verification: Verification): void {
      contracts.delete(contract);
      const [oldest] = contracts.keys();
      if (contracts.size >= mostContracts && oldest !== undefined) contracts.delete(oldest);
      contracts.set(contract, { verification, block });
    },
  };
}
