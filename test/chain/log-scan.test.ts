import { describe, expect, test } from 'vitest';
import { createEvidenceNode } from '../../src/chain/minting/evidence-node.ts';
import { firstBlockSince } from '../../src/chain/minting/first-block-since.ts';
import { type BlockRange, createLogWidth, scanLogs } from '../../src/chain/minting/log-scan.ts';
import { mintTopics } from '../../src/chain/minting/mint-contract.ts';
import { NodesUnavailableError } from '../../src/chain/rpc/transport/node-fault.ts';

/** An error with which a node answers, in words that no list has. */
const refusal = () => Object.assign(new Error('nein'), { error: { code: -32000, message: 'nein' } });

/** Scans all blocks of a node that answers in this way. */
async function scan(to: bigint, answer: (part: BlockRange) => void, end?: 'from' | 'to') {
  const asked: BlockRange[] = [];
  const parts: BlockRange[] = [];
  const ask = async (part: BlockRange): Promise<string[]> => {
    asked.push(part);
    answer(part);
    return [];
  };
  for await (const { from, to: last } of scanLogs(ask, { from: 0n, to }, createLogWidth(), end))
    parts.push({ from, to: last });
  return { asked, parts };
}

const isWhole = (parts: readonly BlockRange[], to: bigint) =>
  parts.every((part, index) => part.from === (parts[index - 1]?.to ?? -1n) + 1n) && parts.at(-1)?.to === to;
const atMost = (widest: bigint) => (part: BlockRange) => {
  if (part.to - part.from + 1n > widest) throw refusal();
};

describe('a scan for logs', () => {
  test('covers every block once from either end, in parts as wide as the node gives, whatever its words', async () => {
    const { asked, parts } = await scan(9_999n, atMost(800n));
    expect(isWhole(parts, 9_999n)).toBe(true);
    expect(asked.length).toBeLessThan(30);
    expect(isWhole((await scan(9_999n, atMost(800n), 'to')).parts.toReversed(), 9_999n)).toBe(true);
  });

  test('asks a node that gives few blocks at once for as many as it gives', async () => {
    const { asked, parts } = await scan(9_999n, atMost(10n));
    expect(isWhole(parts, 9_999n)).toBe(true);
    expect(asked.length).toBeLessThan(1_250);
  });

  test('asks a node without limits for more and more', async () => {
    const { asked } = await scan(20_000_000n, () => {});
    expect(asked.length).toBeLessThan(40);
  });

  test('asks for less after an answer that took too long, and goes on after an outage', async () => {
    const late = new NodesUnavailableError('1', [{ url: '', message: '', reason: 'timeout' }]);
    const slow = await scan(9_999n, ({ from, to }) => {
      if (to - from > 2_000n) throw late;
    });
    expect(isWhole(slow.parts, 9_999n)).toBe(true);
    const outages = [1, 2];
    const { asked } = await scan(99n, () => {
      if (outages.pop() !== undefined) throw new NodesUnavailableError('1', []);
    });
    expect(asked.map(({ to }) => to)).toEqual([99n, 99n, 99n]);
  });

  test('ends with the error of a node that is out for good, refuses a single block, or of who paces it', async () => {
    for (const error of [new NodesUnavailableError('1', []), refusal(), new Error('enough for now')]) {
      const failing = scan(99n, () => {
        throw error;
      });
      await expect(failing).rejects.toBe(error);
    }
  });
});

test('a mint that a node tells twice is one', async () => {
  const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
  const word = (digits: string) => `0x${digits.padStart(64, '0')}`;
  const [topic, nobody] = mintTopics();
  const log = {
    address: contract,
    topics: [topic, nobody, word('a1'), word('7')],
    transactionHash: word('ab'),
    blockHash: word('cd'),
    blockNumber: '0x5',
    logIndex: '0x0',
  };
  const answers = [log, { ...log, blockNumber: '0x6' }, log, { ...log, blockNumber: '0xa' }];
  const node = createEvidenceNode({ send: async () => answers } as never); // the one method that is asked
  const mints = await node.mintsIn(contract, { from: 0n, to: 9n });
  expect(mints.map(({ tokenId, blockNumber }) => [tokenId, blockNumber])).toEqual([
    ['7', 5n],
    ['7', 6n],
  ]);
});

test.each([0n, 1n, 999_990n, 1_000_000n, 1_000_001n])('the first block since a time: %d', async (wanted) => {
  let asked = 0;
  const timeOf = (number: bigint) => new Date(Number(number) * 1_000);
  const block = async (number: bigint) => {
    asked += 1;
    return { number, hash: '', parentHash: '', time: timeOf(number) };
  };
  expect(await firstBlockSince({ block }, timeOf(wanted), 1_000_000n)).toBe(wanted);
  expect(asked).toBeLessThan(35);
});
