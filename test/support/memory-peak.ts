import { setTimeout as pause } from 'node:timers/promises';
import { giveBackFreeMemory } from '../../src/free-memory.ts';
import { createLogger } from '../../src/log.ts';

/* Holds much for a moment, as answers of many MB do, and tells its memory then and afterwards. */

const end = giveBackFreeMemory({ log: createLogger({ level: 'silent' }), everyMs: 50 });
const megabytes = () => Math.round(process.memoryUsage.rss() / 1024 ** 2);
const held: string[][] = [];
for (let round = 0; round < 20; round += 1) {
  held.push(Array.from({ length: 1_000 }, (_, n) => Buffer.alloc(30_000, 97).toString('latin1') + n));
  await pause(1);
}
const peak = megabytes();
held.length = 0;
const deadline = performance.now() + 10_000;
while (megabytes() > peak / 2 && performance.now() < deadline) await pause(20);
end();
process.stdout.write(JSON.stringify({ peak, after: megabytes() }));
