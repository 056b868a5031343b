import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Metrics } from './metrics.ts';

/** Writes lines of a log, several at once where they come in quick succession, and never waits for the reader. */
export type LogLines = {
  write(line: string): void;
  /** Calls this for each line that is left out, because those before it are not read or it cannot be written. */
  onDropped(listener: () => void): void;
  /** Calls this when lines are written again, with the number of lines that were left out. */
  onResumed(listener: (lines: number) => void): void;
  /** Writes the waiting lines, and waits a second for the reader. */
  end(): Promise<void>;
};

type LinesOptions = {
  /** Bytes that wait for the reader at most. Lines beyond them are left out. */
  readonly mostBytes?: number;
};

// To write a line by itself takes as long as half an answer. A quiet process has its lines written at once; a process
// that is killed without notice loses the lines of so long.
const restMs = 20;
const endPatienceMs = 1_000;
const lookMs = 10;

/** @param output standard output; a pipe takes what it can at once, and keeps the rest in memory until it is read */
export function createLogLines(
  output: Writable,
  { mostBytes = 8 * 1024 * 1024 }: LinesOptions = {},
): LogLines {
  const listeners = { dropped: () => {}, resumed: (_lines: number) => {} };
  let leftOut = 0;
  let waiting = '';
  let isResting = false;

  const leaveOut = () => {
    leftOut += 1;
    listeners.dropped();
  };
  const flush = () => {
    const text = waiting;
    waiting = '';
    if (text === '') return;
    output.write(text, (error) => {
      if (error) for (const _line of text.matchAll(/\n/g)) leaveOut();
    });
  };
  const rest = () => {
    isResting = waiting !== '';
    flush();
    if (isResting) setTimeout(rest, restMs).unref();
  };
  // The reader has gone, or the disk is full: the lines are counted. Standard output stays open, and the next lines are
  // tried.
  output.on('error', () => {});
  process.on('exit', flush);

  return {
    write(line) {
      if (output.writableLength + waiting.length > mostBytes) {
        leaveOut();
        return;
      }
      const before = leftOut;
      leftOut = 0;
      if (before > 0) listeners.resumed(before);
      waiting += line;
      if (!isResting) rest();
    },
    onDropped(listener) {
      listeners.dropped = listener;
    },
    onResumed(listener) {
      listeners.resumed = listener;
    },
    async end() {
      flush();
      for (let waitedMs = 0; output.writableLength > 0 && waitedMs < endPatienceMs; waitedMs += lookMs) {
        await delay(lookMs);
      }
    },
  };
}

export function createLogMetrics(metrics: Metrics): () => void {
  const dropped = metrics.counter({
    name: 'tallystick_log_lines_dropped_total',
    help: 'Log lines that were dropped, because 8 MB of unread lines wait or the log cannot be written.',
  });
  return () => dropped.inc();
}
