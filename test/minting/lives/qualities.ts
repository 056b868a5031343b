import { type Flaw, failure, of, resultOf } from '../../support/node/flaw.ts';
import {
  allows,
  feeCap,
  noArchive,
  noFinalized,
  rangesOf,
  tipFloor,
  without,
  withoutPending,
} from '../../support/node/limits.ts';
import { lagsBy, standsStill } from '../../support/node/old-heads.ts';
import {
  errs,
  hangs,
  malformedReceipts,
  refusesBroadcasts,
  slow,
  status,
  swallowsBroadcasts,
} from '../../support/node/wrongs.ts';
import type { Chance } from '../chance.ts';
import { type Chain, forkOf } from './chain.ts';
import { blockMs, chainId } from './constants.ts';
import { viewOf } from './view.ts';

type Make = (chain: Chain, chance: Chance) => readonly Flaw[];

const always =
  (...flaws: readonly Flaw[]): Make =>
  () =>
    flaws;

const words = [
  (tip: bigint, least: bigint) =>
    `transaction gas price below minimum: gas tip cap ${tip}, minimum needed ${least}`,
  () => 'transaction underpriced',
  () => 'nein',
];

const leadsToFork: Make = (chain, chance) => {
  const fork = forkOf(chain, { name: 'fork', without: 2 });
  const view = viewOf(fork, chainId);
  const timer = setInterval(() => fork.mine(Math.floor(Date.now() / 1_000)), blockMs);
  timer.unref();
  const finality = chance.of(['status 429', 'not found', 'null'] as const);
  return [noFinalized(finality), (call) => view(call)];
};

/** The node keeps the first receipt of a transaction, though its block is replaced. */
const oldReceipts: Make = () => {
  const known = new Map<string, unknown>();
  const remembers = of('eth_getTransactionReceipt', async (call, pass) => {
    const hash = String(call.params[0]);
    const result = known.get(hash) ?? resultOf(await pass(call));
    known.set(hash, result);
    return { result };
  });
  return [remembers];
};

/** What a node is like for as long as a life lasts: flaws of the tests on the real chain, and what some of them are made of. */
export const qualities: Readonly<Record<string, Make>> = {
  sound: () => [],
  'no receipts': always(of(['eth_getTransactionReceipt', 'eth_getBlockReceipts'], () => ({ result: null }))),
  'wants a tip': (_chain, chance) => [tipFloor({ least: 3_000_000_000n, say: chance.of(words) })],
  'no eth_maxPriorityFeePerGas': always(without('eth_maxPriorityFeePerGas')),
  'logs of 10 blocks': always(rangesOf(10n)),
  'state of 16 blocks': always(noArchive(16n)),
  slow: always(slow(400)),
  'no pending block': always(withoutPending),
  'no finalized': (_chain, chance) => [
    noFinalized(chance.of(['status 429', 'not found', 'unknown tag', 'null'])),
  ],
  'one question a second': (_chain, chance) => [
    allows(1, chance.of([{ status: 429 }, failure(-32005, 'too many')])),
  ],
  'stands still': (chain) => {
    const past = { head: BigInt(chain.head().number), finalized: BigInt(chain.finalized()?.number ?? 0) };
    return [standsStill(past)];
  },
  lags: always(lagsBy(12n)),
  'on a fork': leadsToFork,
  'another chain': always(of('eth_chainId', () => ({ result: '0x7a6a' }))),
  swallows: always(swallowsBroadcasts),
  refuses: always(refusesBroadcasts('transactions are not accepted')),
  'fee cap': always(feeCap(1_000_000_000_000_000n)),
  'malformed receipts': always(malformedReceipts({ status: 'ok', logs: null })),
  'old receipts': oldReceipts,
  'receipt errors': always(errs({ code: -32000, message: 'leveldb: closed' }, 'eth_getTransactionReceipt')),
  hangs: always(hangs()),
  'no state': always(errs({ code: -32000, message: 'missing trie node' }, 'eth_call')),
  'too many': always(status(429)),
};
