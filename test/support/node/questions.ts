import { type Call, fieldOf, quantityOf } from './flaw.ts';

/** What a node was asked, and what it said of the market. */
export type Questions = {
  /** Questions by method since the start or the last {@link forget}. */
  readonly byMethod: () => ReadonlyMap<string, number>;
  /** The most questions during one block, since the start or the last {@link forget}. */
  readonly mostPerBlock: () => number;
  /** The questions of that block by method. */
  readonly busiest: () => ReadonlyMap<string, number>;
  forget(): void;
};

export type QuestionCount = Questions & {
  asked(call: Call): void;
  /** Takes notice of what the real node says is its newest block. */
  saw(call: Call, result: unknown): void;
};

// Where no block comes, a block is taken to last for twelve polls of a worker (50 ms in tests): as on Ethereum, where a
// worker polls each second.
const longestBlockMs = 600;

export function countQuestions(): QuestionCount {
  let all = new Map<string, number>();
  let current = new Map<string, number>();
  let busiest = new Map<string, number>();
  let begun = performance.now();
  let head: bigint | undefined;
  const sumOf = (counts: ReadonlyMap<string, number>) =>
    [...counts.values()].reduce((sum, count) => sum + count, 0);
  const count = (counts: Map<string, number>, method: string) =>
    counts.set(method, (counts.get(method) ?? 0) + 1);
  const next = () => {
    current = new Map();
    begun = performance.now();
  };

  return {
    asked({ method }) {
      if (performance.now() - begun > longestBlockMs) next();
      count(all, method);
      count(current, method);
      if (sumOf(current) > sumOf(busiest)) busiest = current;
    },
    saw({ method, params }, result) {
      const isHead = method === 'eth_getBlockByNumber' && params[0] === 'latest';
      const number =
        method === 'eth_blockNumber'
          ? quantityOf(result)
          : isHead
            ? quantityOf(fieldOf(result, 'number'))
            : head;
      if (number !== undefined && number !== head) {
        head = number;
        next();
      }
    },
    byMethod: () => all,
    mostPerBlock: () => sumOf(busiest),
    busiest: () => busiest,
    forget() {
      all = new Map();
      busiest = new Map();
      next();
    },
  };
}
