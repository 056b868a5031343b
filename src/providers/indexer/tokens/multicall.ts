import { Interface } from 'ethers';
import { bytesAt, lengthAt } from '../../../chain/words.ts';

/** A call of a contract with nothing but its address and its data. */
export type BatchedCall = { readonly to: string; readonly data: string };

/** The same address on every network that has it. */
export const multicallAddress = '0xca11bde05977b3631167028862be2a173976ca11';

const abi = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) view returns ((bool success, bytes returnData)[])',
]);

/** Returns many calls as one call of Multicall3. */
export function toOneCall(calls: readonly BatchedCall[]): BatchedCall {
  const requests = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
  return { to: multicallAddress, data: abi.encodeFunctionData('aggregate3', [requests]) };
}

const word = 32;

/**
 * Cuts the answers out of the result of Multicall3, where ethers would decode the whole result byte by byte.
 * @returns an entry is undefined when its call failed. All are undefined for any other content, because the address may
 *   have another contract
 */
export function readResults(data: string, count: number): (string | undefined)[] | undefined {
  const list = lengthAt(data, 0);
  if (list === undefined || lengthAt(data, list) !== count) return undefined;
  const found: (string | undefined)[] = [];
  let digits = 0;
  for (let place = 1; place <= count; place += 1) {
    const result = lengthAt(data, list + place * word);
    const start = result === undefined ? undefined : list + word + result;
    const succeeded = start === undefined ? undefined : lengthAt(data, start);
    const offset = start === undefined ? undefined : lengthAt(data, start + word);
    const bytes = start === undefined || offset === undefined ? undefined : bytesAt(data, start + offset);
    if (succeeded === undefined || bytes === undefined) return undefined;
    digits += bytes.length;
    // Answers that share their bytes could be many times as long as the whole result.
    if (digits > data.length) return undefined;
    found.push(succeeded !== 0 && bytes !== '' ? `0x${bytes}` : undefined);
  }
  return found;
}
