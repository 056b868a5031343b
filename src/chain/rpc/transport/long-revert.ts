import { AbiCoder } from 'ethers';
import type { RpcError } from './answer.ts';

const revertCode = 3;
const errorOfString = '0x08c379a0';

/** What stands for the rejection by a contract that is longer than what is read of an answer. */
export function longRevert(maxBytes: number): RpcError {
  const words = `(what it says is over ${maxBytes} bytes)`;
  const data = `${errorOfString}${AbiCoder.defaultAbiCoder().encode(['string'], [words]).slice(2)}`;
  return { code: revertCode, message: `execution reverted: ${words}`, data };
}
