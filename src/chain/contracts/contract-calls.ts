import { Interface } from 'ethers';

/** A compiled contract as scripts/contracts.ts writes it. */
export type ContractArtefact = {
  readonly name: string;
  /** Human-readable fragments, such as `function mint(address to, uint256 id)`. */
  readonly abi: readonly string[];
  /** Creation code, `0x` and hex digits. */
  readonly bytecode: string;
};

/** The data of a transaction that creates the contract. */
export function deployData({ abi, bytecode }: ContractArtefact, args: readonly unknown[] = []): string {
  return bytecode + new Interface(abi).encodeDeploy(args).slice(2);
}

/** The data of a call. @throws Error when the contract has no such function or the arguments do not match it */
export function callData({ abi }: ContractArtefact, method: string, args: readonly unknown[] = []): string {
  return new Interface(abi).encodeFunctionData(method, args);
}
