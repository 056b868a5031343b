import { describe, expect, test } from 'vitest';
import { defaultTip, suggestedTip } from '../../src/chain/minting/suggested-tip.ts';

type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string } };

/** A node with these answers; it has no other methods. Errors are as ethers gives them. */
const nodeWith = (answers: Readonly<Record<string, Answer>>) => ({
  async send(method: string) {
    const unknown = { error: { code: -32601, message: `Method ${method} not found` } };
    const answer = answers[method] ?? unknown;
    if ('result' in answer) return answer.result;
    throw Object.assign(new Error('could not coalesce error'), answer);
  },
});
const history = (...paid: number[]) => ({
  eth_feeHistory: { result: { reward: paid.map((wei) => [`0x${wei.toString(16)}`]) } },
});

describe('the priority fee', () => {
  test('is the one that the node suggests', async () => {
    const node = nodeWith({ eth_maxPriorityFeePerGas: { result: '0x5' }, ...history(9) });
    expect(await suggestedTip(node)).toBe(5n);
  });

  test('is the median of what was paid, without blocks that had no transaction', async () => {
    expect(await suggestedTip(nodeWith(history(0, 7, 0, 100, 3)))).toBe(7n);
  });

  test.for([
    ['no history', {}],
    ['a history of empty blocks', history(0, 0)],
    ['a history without rewards', { eth_feeHistory: { result: { reward: null } } }],
  ] as const)('is 1 gwei from a node with %s', async ([_, answers]) => {
    expect(await suggestedTip(nodeWith(answers))).toBe(defaultTip);
  });

  test.for([-32601, -32000, -32603])(
    'is read from the history after an error of code %i, whatever its words',
    async (code) => {
      const error = { code, message: 'in whatever words' };
      expect(await suggestedTip(nodeWith({ eth_maxPriorityFeePerGas: { error }, ...history(4) }))).toBe(4n);
    },
  );
});
