import type { JsonRpcApiProvider } from 'ethers';
import { callContract } from '../rpc/client/contract-call.ts';
import { NodeFault } from '../rpc/transport/node-fault.ts';
import { quantity } from '../rpc/transport/quantity.ts';
import { encodeOwnerOf } from './mint-contract.ts';

/**
 * What is at an address that is to mint:
 * - `no_code`: no contract;
 * - `nonsense`: a contract that answers who owns a token that does not exist with what is no such answer;
 * - `contract`: anything else.
 */
export type ContractLook = 'no_code' | 'nonsense' | 'contract';

// The highest token id. Neither our contract nor the common libraries give it.
const tokenThatIsNot = (2n ** 256n - 1n).toString();
const wordBytes = 32;

/**
 * Reads what is at an address, at a block.
 * @throws when a node does not answer
 */
export async function lookAtContract(
  node: Pick<JsonRpcApiProvider, 'send'>,
  contract: string,
  at: bigint,
): Promise<ContractLook> {
  const code: unknown = await node.send('eth_getCode', [contract, quantity(at)]);
  if (typeof code !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(code)) {
    throw new NodeFault('malformed', 'eth_getCode answers no bytes');
  }
  if (code === '0x') return 'no_code';
  const owner = await callContract(node, { to: contract, data: encodeOwnerOf(tokenThatIsNot) }, at);
  // A revert says that there is no owner, as does the zero address of older contracts.
  if (owner === undefined) return 'contract';
  const isZero = owner.length === 2 + 2 * wordBytes && BigInt(owner) === 0n;
  return isZero ? 'contract' : 'nonsense';
}
