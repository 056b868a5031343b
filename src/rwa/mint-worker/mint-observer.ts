import type { Logger } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { MintStep, StepFacts, StepObserver } from './context/lane-context.ts';
import type { LaneId } from './stores/lane-store.ts';

type Line = readonly ['info' | 'warn' | 'error', string];

/** The log line of each step. A step that is only the first half of another one has none. */
const lines: Partial<Record<MintStep, Line>> = {
  taken: ['info', 'mint lane taken'],
  watched: ['warn', 'mint lane has no signer: what it has sent is watched'],
  stored: ['info', 'mint signed'],
  sent: ['info', 'mint broadcast'],
  raise_stored: ['info', 'mint bumped'],
  rebroadcast: ['info', 'mint rebroadcast'],
  mined: ['info', 'mint mined'],
  confirmed: ['info', 'minted'],
  reorganised: ['warn', 'reorganisation took a mint back'],
  finalized: ['info', 'mint final'],
  released: ['error', 'nonce was used by somebody else; its NFTs wait for another'],
  reverted: ['warn', 'mint was reverted'],
  proven: ['info', 'outcome of mints proven'],
  refused: ['error', 'mint failed: the contract refuses its recipient'],
  paused: ['warn', 'mint lane paused'],
  resumed: ['info', 'mint lane resumed'],
};

const broadcasts: Partial<Record<MintStep, string>> = {
  sent: 'first',
  raise_sent: 'bumped',
  rebroadcast: 'rebroadcast',
};

/** Creates the observer that logs and counts the steps of all lanes. */
export function createMintObserver(metrics: Metrics, log: Logger): StepObserver {
  const count = createStepMetrics(metrics);
  return (lane, step, facts) => {
    count(lane, step, facts);
    const line = lines[step];
    if (line === undefined) return;
    const [level, text] = line;
    // A log line has the number of minted NFTs. The histogram has their waiting times.
    const { waits, ...rest } = facts;
    const minted = waits === undefined ? {} : { minted: waits.length };
    log[level]({ ...lane, ...rest, ...minted }, text);
  };
}

function createStepMetrics(metrics: Metrics) {
  const labels = ['chain_id', 'signer'] as const;
  const minted = metrics.counter({
    name: 'tallystick_mint_minted_total',
    help: 'NFTs that came to count as minted; one that was taken back and minted again counts twice.',
    labels,
  });
  const reorganised = metrics.counter({
    name: 'tallystick_mint_reorganised_total',
    help: 'Minted NFTs that a reorganisation took back.',
    labels,
  });
  const failed = metrics.counter({
    name: 'tallystick_mint_failed_total',
    help: 'NFTs whose mint failed, as the chain shows.',
    labels,
  });
  const sent = metrics.counter({
    name: 'tallystick_mint_broadcasts_total',
    help: 'Transactions handed to the nodes: first, bumped with higher fees or fewer NFTs, or rebroadcast as they are.',
    labels: [...labels, 'kind'],
  });
  const seconds = metrics.histogram({
    name: 'tallystick_mint_seconds',
    help: 'Time from the acceptance of a mint until the NFT counts as minted.',
    labels: ['chain_id'],
    buckets: [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600],
  });

  return (lane: LaneId, step: MintStep, facts: StepFacts) => {
    const values = { chain_id: lane.chainId, signer: lane.signer };
    // Starts each series at 0, since a rate misses the first event of a series that begins with 1.
    if (step === 'taken') {
      for (const counter of [minted, reorganised, failed]) counter.inc(values, 0);
      for (const kind of Object.values(broadcasts)) sent.inc({ ...values, kind }, 0);
    }
    const kind = broadcasts[step];
    if (kind !== undefined) sent.inc({ ...values, kind });
    if (facts.waits !== undefined) minted.inc(values, facts.waits.length);
    for (const waited of facts.waits ?? []) seconds.observe({ chain_id: lane.chainId }, waited);
    if (facts.failed !== undefined) failed.inc(values, facts.failed);
    if (facts.unminted !== undefined) reorganised.inc(values, facts.unminted);
  };
}
