import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { type Clock, install } from '@sinonjs/fake-timers';
import { createRandom } from '../chance.ts';

/*
 * Time and chance of a process. Timers, `Date` and `performance` follow a clock that stands still while something runs, and
 * PGlite's `now()` follows `Date`. Random bytes come from a seed. Both replace what Node offers, so that the code of the service
 * runs as it is.
 */

export type VirtualTime = {
  /** Runs what is due until the condition holds or this much time has passed. @returns whether it holds */
  until(condition: () => boolean, ms: number): Promise<boolean>;
  /** Milliseconds since the life began. */
  now(): number;
  /** Draws all random bytes from here on from a seed, and sets the clock to the beginning. */
  begin(seed: number): void;
  end(): void;
};

const epoch = Date.UTC(2027, 0, 1);
const day = 86_400_000;
// Before it is replaced.
const realTurn = timers.setImmediate;

export function createVirtualTime(): VirtualTime {
  const clock: Clock = install({
    now: epoch,
    shouldClearNativeTimers: true,
    toFake: [
      ...(['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const),
      ...(['setImmediate', 'clearImmediate', 'performance'] as const),
    ],
  });
  syncBuiltinESMExports();
  let endChance = () => {};
  let begun = 0;
  return {
    async until(condition, ms) {
      const end = performance.now() + ms;
      for (;;) {
        // Whatever needs no timer runs to its end.
        await realTurn();
        if (condition()) return true;
        if (performance.now() >= end) return false;
        if (clock.countTimers() === 0) return false;
        clock.next();
      }
    },
    now: () => performance.now() - begun,
    begin(seed) {
      endChance();
      clock.reset();
      // Each life begins at midnight of a later day than the one before: identifiers are made of the time.
      clock.setSystemTime((Math.floor(Date.now() / day) + 2) * day);
      begun = performance.now();
      endChance = seedRandomBytes(seed);
    },
    end() {
      endChance();
      clock.uninstall();
      syncBuiltinESMExports();
    },
  };
}

/** Lets Node, and with it PGlite, draw random bytes from a seed. @returns what ends that */
function seedRandomBytes(seed: number): () => void {
  const random = createRandom(seed);
  const fill = <T extends NodeJS.ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = Math.floor(random() * 256);
    return view;
  };
  const before = {
    randomBytes: crypto.randomBytes,
    randomUUID: crypto.randomUUID,
    randomFillSync: crypto.randomFillSync,
    getRandomValues: globalThis.crypto.getRandomValues,
  };
  const uuid = () => {
    const bytes = fill(Buffer.alloc(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const text = bytes.toString('hex');
    return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join(
      '-',
    );
  };
  Object.assign(crypto, {
    randomBytes: (size: number) => fill(Buffer.alloc(size)),
    randomUUID: uuid,
    randomFillSync: fill,
  });
  Object.assign(globalThis.crypto, { getRandomValues: fill });
  syncBuiltinESMExports();
  return () => {
    const { getRandomValues, ...ofModule } = before;
    Object.assign(crypto, ofModule);
    Object.assign(globalThis.crypto, { getRandomValues });
    syncBuiltinESMExports();
  };
}
