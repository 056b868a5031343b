import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { startUnpinned } from '../start-service.ts';
import type { BareTask, BareTime } from './bare-transactions.ts';
import { type BenchSetup, newRecipient } from './bench-setup.ts';
import { postAll } from './post-all.ts';

export type Acceptance = {
  /** Requests a second that were answered. */
  readonly acceptedPerSecond: number;
  readonly barePerSecond: number;
  readonly acceptedToBare: number;
  readonly rounds: number;
  readonly requests: number;
};

type Options = {
  readonly setup: BenchSetup;
  readonly rounds: number;
  readonly perRound: number;
  readonly connections: number;
  readonly say: (line: string) => void;
};

const bareProgram = path.join(import.meta.dirname, 'bare-transactions.ts');

/**
 * `POST /nft/{id}/mint` until answered, against a bare Knex transaction with the same writes: by turns, in
 * the same database, each in a process of its own with as many at once and as large a pool.
 */
export async function measureAcceptance(options: Options): Promise<Acceptance> {
  const { setup, rounds, perRound, connections, say } = options;
  const service = await startUnpinned({ ...setup.settings, ROLES: 'api' });
  const bare = fork(bareProgram, [setup.settings['DATABASE_URL'] ?? '', String(connections)]);
  const runBare = async (task: BareTask): Promise<number> => {
    bare.send(task);
    const [{ seconds }]: [BareTime] = (await once(bare, 'message')) as [BareTime]; // what it sends
    return seconds;
  };
  const times = { accepted: [] as number[], bare: [] as number[] };
  try {
    // The first round warms both up and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      const requests = (await setup.issue(perRound)).map(setup.mintRequest);
      const accepted = await postAll(service.port, requests, connections);
      const nfts = (await setup.issue(perRound)).map(({ id }) => ({ id, recipient: newRecipient() }));
      const bareSeconds = await runBare({ nfts });
      say(
        `  round ${round}: accepted ${perSecond(perRound, accepted.seconds)}/s, bare ${perSecond(perRound, bareSeconds)}/s`,
      );
      if (round === 0) continue;
      times.accepted.push(accepted.seconds);
      times.bare.push(bareSeconds);
    }
  } finally {
    bare.disconnect();
    await service.stop();
  }
  const acceptedPerSecond = perSecond(perRound, median(times.accepted));
  const barePerSecond = perSecond(perRound, median(times.bare));
  const acceptedToBare = median(times.bare) / median(times.accepted);
  return { acceptedPerSecond, barePerSecond, acceptedToBare, rounds, requests: rounds * perRound };
}

const perSecond = (count: number, seconds: number) => Math.round(count / seconds);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
