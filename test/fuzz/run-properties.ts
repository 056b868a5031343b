import { createHash } from 'node:crypto';
import type { Probing } from './prober.ts';
import type { Finding, Property } from './property.ts';

export type FuzzOptions = {
  readonly requests: number;
  readonly seed: number;
  /** Properties under way at once. */
  readonly lanes: number;
  readonly onProgress: (sent: number) => void;
};

// Few enough that a property ends near its share, enough that fast-check grows its values.
const triesARound = 25;

/**
 * Tries all properties until so many requests were sent, each for its share; one with a finding is tried no
 * further. The same seed and number give the same tries.
 */
export async function runProperties(
  properties: readonly Property[],
  probing: Probing,
  { requests, seed, lanes, onProgress }: FuzzOptions,
): Promise<readonly Finding[]> {
  const shares = properties.reduce((sum, { share }) => sum + share, 0);
  const findings: Finding[] = [];
  const waiting = properties.map((each) => ({ each, budget: Math.ceil((requests * each.share) / shares) }));

  const tryOut = async ({ each, budget }: { each: Property; budget: number }) => {
    const counted = countOwn(probing);
    for (let round = 0; counted.sent() < budget; round += 1) {
      const before = counted.sent();
      const finding = await each.tryOut(counted, seedOf(seed, each.name, round), triesARound);
      onProgress(probing.sent());
      if (finding !== undefined) {
        findings.push(finding);
        return;
      }
      if (counted.sent() === before) throw new Error(`${each.name} sends nothing`);
    }
  };

  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await tryOut(next);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return findings;
}

/** The same probing, counting only what goes through it. */
function countOwn(probing: Probing): Probing {
  let sent = 0;
  return {
    sent: () => sent,
    newProber() {
      const prober = probing.newProber();
      return {
        trace: prober.trace,
        send(request) {
          sent += 1;
          return prober.send(request);
        },
      };
    },
  };
}

function seedOf(seed: number, name: string, round: number): number {
  return createHash('sha256').update(`${seed} ${name} ${round}`).digest().readInt32BE();
}
