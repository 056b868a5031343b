import { appendFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runSequence } from '../fault-sequence.ts';
import { createMintWorld } from '../mint-world.ts';

// `npm run faults` says how long and where to write; otherwise a few sequences are tried, new ones each time.
const seconds = Number(process.env['FAULT_SECONDS'] ?? 5);
const first = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000_000);
const report = process.env['FAULT_REPORT'];
const sequencesInOneWorld = 10;

const tell = (line: object) => {
  if (report !== undefined) appendFileSync(report, `${JSON.stringify(line)}\n`);
};

test(
  `random sequences of faults from seed ${first}: each accepted NFT is minted once`,
  async () => {
    const end = performance.now() + seconds * 1_000;
    let seed = first;
    do {
      const world = await createMintWorld();
      try {
        for (let index = 0; index < sequencesInOneWorld && performance.now() < end; index += 1) {
          const { done, found, nfts } = await runSequence(world, seed);
          tell({ seed, nfts, done, found });
          expect(found, `seed ${seed}: ${done.join(', ')}`).toEqual([]);
          seed += 1;
        }
      } finally {
        await world.close();
      }
    } while (performance.now() < end);
  },
  (seconds + 240) * 1_000,
);
