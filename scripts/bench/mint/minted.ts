import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../../src/contract/transaction.ts';

// Every count reads all the rows, on the cores that are measured: it is asked often only when the end is near.
const nearEnd = 0.9;
const farMs = 250;
const nearMs = 50;

/** Waits until so many NFTs are minted. @returns when that was seen. @throws Error when it takes too long */
export async function untilMinted(db: Database, count: number, seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const rows: { count: string }[] = await db('nfts').where({ mint_state: 'minted' }).count();
    const minted = Number(rows[0]?.count);
    if (minted >= count) return performance.now();
    if (performance.now() > deadline) throw new Error(`After ${seconds} s ${minted} of ${count} are minted.`);
    await pause(minted < nearEnd * count ? farMs : nearMs);
  }
}
