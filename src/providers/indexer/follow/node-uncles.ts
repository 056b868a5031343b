import type { JsonRpcApiProvider } from 'ethers';
import { quantity } from '../../../chain/rpc/transport/quantity.ts';
import { type RawBlock, type RawUncle, readUncle } from '../decode/raw-block.ts';
import { isAtAll, isAtSome, isError, isWithoutMethod } from './node-error.ts';

/**
 * Returns the uncles that a block of proof of work names. @returns undefined where the node does not have all of them
 */
export async function readUncles(
  node: Pick<JsonRpcApiProvider, 'send'>,
  { header, difficulty = 0n, uncleCount = 0 }: RawBlock,
  isLastTry: boolean,
): Promise<readonly RawUncle[] | undefined> {
  if (difficulty === 0n || uncleCount === 0) return [];
  const places = Array.from({ length: uncleCount }, (_, place) => BigInt(place));
  try {
    const answers: unknown[] = await Promise.all(
      places.map((place) => node.send('eth_getUncleByBlockHashAndIndex', [header.hash, quantity(place)])),
    );
    return answers.some((answer) => answer === null) ? undefined : answers.map(readUncle);
  } catch (error) {
    if (isAtAll(error, isWithoutMethod) || (isLastTry && isAtSome(error, isError))) return undefined;
    throw error;
  }
}
