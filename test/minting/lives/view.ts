import { type Answer, type Call, failure, hexOf, type Pass } from '../../support/node/flaw.ts';
import { type Block, blockGas, type Chain, type ChainState, type Mined, Refused } from './chain.ts';
import { callContract } from './contract.ts';

/* What a sound node of a simulated chain answers over JSON-RPC. */

const hex = (value: number | bigint) => hexOf(BigInt(value));
const code = '0x6080';

/** The answers of a sound node. */
export function viewOf(chain: Chain, chainId: bigint): Pass {
  return async (call) => answer(chain, chainId, call);
}

function answer(chain: Chain, chainId: bigint, { method, params }: Call): Answer {
  const [first, second] = params;
  const at = (tag: unknown): Block | undefined => blockAt(chain, tag);
  const ofState = (tag: unknown, read: (block: Block) => string): Answer => {
    const block = at(tag);
    return block === undefined ? failure(-32000, 'header not found') : { result: read(block) };
  };
  switch (method) {
    case 'eth_chainId':
      return { result: hexOf(chainId) };
    case 'eth_blockNumber':
      return { result: hex(chain.head().number) };
    case 'eth_getBlockByNumber': {
      const block = at(first);
      return { result: block ? headerOf(block) : null };
    }
    case 'eth_getTransactionCount':
      return ofState(second, ({ state }) => hex(state.nonces.get(textOf(first)) ?? 0));
    case 'eth_getBalance':
      return ofState(second, (block) => hex(chain.balanceOf(textOf(first), block)));
    case 'eth_getCode':
      return ofState(second, ({ state }) =>
        state.hasCode && textOf(first) === chain.contract ? code : '0x',
      );
    case 'eth_gasPrice':
      return { result: hex(chain.baseFee() + usualTip) };
    case 'eth_maxPriorityFeePerGas':
      return { result: hex(usualTip) };
    case 'eth_getTransactionByHash':
      return { result: transactionOf(chain, String(first)) };
    case 'eth_getTransactionReceipt': {
      const found = chain.find(String(first).toLowerCase());
      return { result: found ? receiptOf(chain, found.block, found.mined, found.index) : null };
    }
    case 'eth_getBlockReceipts': {
      const block = at(first);
      return {
        result: block ? block.mined.map((mined, index) => receiptOf(chain, block, mined, index)) : null,
      };
    }
    case 'eth_getLogs':
      return { result: logsOf(chain, first as LogFilter) };
    case 'eth_call':
    case 'eth_estimateGas': {
      const block = at(second ?? 'latest');
      if (block === undefined) return failure(-32000, 'header not found');
      return simulate(chain, block.state, first as Simulated, method === 'eth_estimateGas');
    }
    case 'eth_sendRawTransaction':
      try {
        return { result: chain.takeRaw(String(first)) };
      } catch (error) {
        if (error instanceof Refused) return failure(-32000, error.message);
        throw error;
      }
    default:
      return failure(-32601, `the method ${method} does not exist/is not available`);
  }
}

export const usualTip = 10n ** 9n;
const textOf = (value: unknown) => String(value).toLowerCase();

function blockAt(chain: Chain, tag: unknown): Block | undefined {
  if (tag === 'latest' || tag === 'pending') return chain.head();
  if (tag === 'finalized' || tag === 'safe') return chain.finalized() ?? chain.blocks[0];
  if (tag === 'earliest') return chain.blocks[0];
  return chain.blocks[Number(tag)];
}

const headerOf = ({ number, hash, parent, time, baseFee }: Block) => ({
  number: hex(number),
  hash,
  parentHash: parent,
  timestamp: hex(time),
  baseFeePerGas: hexOf(baseFee),
  gasLimit: hexOf(blockGas),
});

function receiptOf(chain: Chain, block: Block, mined: Mined, index: number) {
  const { sent, isSuccess, gasUsed, price } = mined;
  return {
    transactionHash: sent.hash,
    blockNumber: hex(block.number),
    blockHash: block.hash,
    status: isSuccess ? '0x1' : '0x0',
    gasUsed: hexOf(gasUsed),
    effectiveGasPrice: hexOf(price),
    to: sent.to,
    logs: eventsOf(chain, block).filter(({ transactionIndex }) => transactionIndex === hex(index)),
  };
}

function eventsOf({ contract }: Chain, block: Block) {
  let place = 0;
  return block.mined.flatMap(({ sent, logs }, index) =>
    logs.map(({ topics, data }) => ({
      address: contract,
      topics,
      data,
      blockNumber: hex(block.number),
      blockHash: block.hash,
      transactionHash: sent.hash,
      transactionIndex: hex(index),
      logIndex: hex(place++),
    })),
  );
}

type LogFilter = {
  readonly address?: string | readonly string[];
  readonly topics?: readonly (string | readonly string[] | null)[];
  readonly fromBlock?: string;
  readonly toBlock?: string;
};

function logsOf(chain: Chain, { address, topics = [], fromBlock, toBlock }: LogFilter) {
  const addresses = [address ?? chain.contract].flat().map(textOf);
  if (!addresses.includes(chain.contract)) return [];
  const from = blockAt(chain, fromBlock)?.number ?? chain.head().number + 1;
  const to = blockAt(chain, toBlock)?.number ?? chain.head().number;
  const fits = (found: readonly string[]) =>
    topics.every((wanted, index) => wanted === null || [wanted].flat().includes(found[index] ?? ''));
  return chain.blocks
    .slice(from, to + 1)
    .flatMap((block) => eventsOf(chain, block).filter((event) => fits(event.topics)));
}

function transactionOf(chain: Chain, hash: string) {
  const found = chain.find(hash.toLowerCase());
  const sent = found?.mined.sent ?? chain.waiting(hash.toLowerCase());
  if (sent === undefined) return null;
  const place = { blockNumber: found ? hex(found.block.number) : null, blockHash: found?.block.hash ?? null };
  return { hash, from: sent.from, to: sent.to, nonce: hex(sent.nonce), input: sent.data, ...place };
}

type Simulated = { readonly from?: string; readonly to?: string; readonly data?: string };

function simulate(
  chain: Chain,
  state: ChainState,
  { from, to, data = '0x' }: Simulated,
  isEstimate: boolean,
): Answer {
  const isContract = state.hasCode && textOf(to) === chain.contract;
  if (!isContract) return { result: isEstimate ? '0x5208' : '0x' };
  const outcome = callContract(state.contract, textOf(from), data);
  if ('revert' in outcome) return { error: { code: 3, message: 'execution reverted', data: outcome.revert } };
  return { result: isEstimate ? hexOf(outcome.gas) : outcome.data };
}
