import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkOutRelease, findOldestRelease } from '../../support/oldest-release.ts';
import { runSequence } from '../fault-sequence.ts';
import { createMintSetup } from '../mint-setup.ts';

// `npm run faults` says how long, how many at most and where to write.
const seconds = Number(process.env['FAULT_SECONDS'] ?? 10);
const most = Number(process.env['FAULT_SEQUENCES'] ?? Number.POSITIVE_INFINITY);
const first = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000_000);
const report = process.env['FAULT_REPORT'];
const sequencesInOneSetup = 10;
// Sequences side by side, in processes of their own, take seeds by turns.
const stride = Number(process.env['FAULT_STRIDE'] ?? 1);
const setupsAtOnce = Number(process.env['FAULT_SETUPS'] ?? 1);

const tell = (line: object) => {
  if (report !== undefined) appendFileSync(report, `${JSON.stringify(line)}\n`);
};

test(
  `random sequences of faults from seed ${first}: each accepted NFT is minted once`,
  async () => {
    const end = performance.now() + seconds * 1_000;
    const wrong: string[] = [];
    let begun = 0;
    const last = findOldestRelease();
    const release = typeof last === 'string' ? undefined : checkOutRelease(last);
    const mayBegin = () => begun < most && (begun < setupsAtOnce || performance.now() < end);

    const inOneSetup = async () => {
      const setup = await createMintSetup({ minters: 2, nodes: [[], [], []] });
      try {
        for (let index = 0; index < sequencesInOneSetup && mayBegin(); index += 1) {
          const seed = first + begun * stride;
          begun += 1;
          const { found, done, ...rest } = await runSequence(setup, seed, release?.folder);
          tell({ seed, done, found, ...rest });
          if (found.length === 0) continue;
          wrong.push(`seed ${seed}: ${done.join(', ')}: ${found.join('; ')}`);
          // What is wrong stays wrong: the next sequence begins in another setup.
          return;
        }
      } finally {
        await setup.close();
      }
    };
    const oneAfterTheOther = async () => {
      while (mayBegin()) await inOneSetup();
    };
    await Promise.all(Array.from({ length: Math.min(setupsAtOnce, most) }, oneAfterTheOther));
    release?.remove();
    expect(begun).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  },
  (seconds + 300) * 1_000,
);
