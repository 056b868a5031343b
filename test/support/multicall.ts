import { multicallAddress } from '../../src/providers/indexer/tokens/multicall.ts';
import { callNode } from './deploy.ts';
import { compileContracts } from './solidity.ts';

/** Gives a local chain what nearly every public one has: Multicall3, at its address. */
export async function installMulticall(rpcUrl: string): Promise<void> {
  const { Multicall } = await compileContracts();
  const code = await callNode<string>(rpcUrl, 'eth_call', [{ data: Multicall?.bytecode }, 'latest']);
  await callNode(rpcUrl, 'anvil_setCode', [multicallAddress, code]);
}
