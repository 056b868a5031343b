import { getAddress, type JsonRpcApiProvider } from 'ethers';
import { z } from 'zod';
import { quantity } from '../rpc/transport/quantity.ts';
import { blockNumberShape, quantityShape, wordShape } from './answer-shapes.ts';
import type { BlockRange } from './log-scan.ts';
import { transferTopic } from './mint-contract.ts';

/** A token that changed hands, by the event of its contract. */
export type Transfer = {
  /** As the caller named it. */
  readonly contract: string;
  /** Decimal. */
  readonly tokenId: string;
  /** EIP-55; the zero address of a mint. */
  readonly from: string;
  /** EIP-55; the zero address of a burn. */
  readonly to: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly transactionHash: string;
  /** Within its block. */
  readonly logIndex: bigint;
};

const logsShape = z.array(
  z.object({
    address: z.string(),
    topics: z.array(wordShape),
    blockNumber: blockNumberShape,
    blockHash: wordShape,
    transactionHash: wordShape,
    logIndex: quantityShape,
  }),
);

type Log = z.output<typeof logsShape>[number];

/**
 * Asks for the transfers of ERC-721 tokens of these contracts in these blocks, in the order of the chain.
 * @param topics of the events; those of all transfers by default
 */
export async function readTransfers(
  provider: Pick<JsonRpcApiProvider, 'send'>,
  contracts: readonly string[],
  { from, to }: BlockRange,
  topics: readonly (string | readonly string[] | null)[] = [transferTopic],
): Promise<Transfer[]> {
  const filter = {
    address: contracts,
    topics,
    fromBlock: quantity(from),
    toBlock: quantity(to),
  };
  const logs = logsShape.parse(await provider.send('eth_getLogs', [filter]));
  const names = new Map(contracts.map((contract) => [contract.toLowerCase(), contract]));
  const found = logs.flatMap((log) => {
    const contract = names.get(log.address.toLowerCase());
    // What a node adds to the question is no answer to it.
    const isAsked = log.blockNumber >= from && log.blockNumber <= to;
    return contract === undefined || !isAsked ? [] : toTransfer(log, contract);
  });
  // Around a reorganisation, a node may give the same log twice.
  const unique = new Map(found.map((one) => [`${one.blockNumber} ${one.blockHash} ${one.logIndex}`, one]));
  return [...unique.values()].sort(
    (one, other) => Number(one.blockNumber - other.blockNumber) || Number(one.logIndex - other.logIndex),
  );
}

/** An event with other topics is one of another standard, such as ERC-20. */
function toTransfer({ topics, ...log }: Log, contract: string): Transfer[] {
  const [topic, from, to, id] = topics;
  if (topic !== transferTopic || from === undefined || to === undefined || id === undefined) return [];
  const { blockNumber, blockHash, transactionHash, logIndex } = log;
  const place = { blockNumber, blockHash, transactionHash, logIndex };
  return [{ contract, tokenId: BigInt(id).toString(), from: addressOf(from), to: addressOf(to), ...place }];
}

const addressOf = (topic: string): string => getAddress(`0x${topic.slice(-40)}`);
