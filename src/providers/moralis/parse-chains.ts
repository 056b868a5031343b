import { z } from 'zod';
import type { Seen } from '../shared/provider.ts';
import { decimal, instant } from './fields.ts';
import { readUpstreamAnswer } from './read-answer.ts';

const end = z.object({ block_number: decimal, block_timestamp: instant }).nullish();

const chains = z.object({
  active_chains: z
    .array(z.object({ chain_id: z.string(), first_transaction: end, last_transaction: end }))
    .max(1_000),
});

const toBlock = ({ block_number, block_timestamp }: NonNullable<z.output<typeof end>>) => ({
  blockNumber: BigInt(block_number),
  blockTime: new Date(block_timestamp),
});

/** Where a wallet was seen, by hex chain id. Chains that it never used are left out. @throws UpstreamFault */
export function parseChains(answer: unknown): ReadonlyMap<string, Seen> {
  const { active_chains: found } = readUpstreamAnswer(chains, answer);
  return new Map(
    found.flatMap(({ chain_id, first_transaction: first, last_transaction: last }) =>
      first == null || last == null
        ? []
        : [[chain_id.toLowerCase(), { first: toBlock(first), last: toBlock(last) }] as const],
    ),
  );
}
