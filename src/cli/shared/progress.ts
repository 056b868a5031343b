import { Presets, SingleBar } from 'cli-progress';

export type Progress = { update(done: number, total: number): void; stop(): void };

/** A stream that may be a terminal. */
export type Watched = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * A progress bar with the time left. It is silent when the stream is no terminal.
 * @param unit the name of the counted things
 */
export function createProgress(stream: Watched, what: string, unit = ''): Progress {
  if (!stream.isTTY) return { update() {}, stop() {} };
  const bar = new SingleBar(
    {
      stream,
      format: `${what} {bar} {percentage}% | {value}/{total} ${unit} | {eta_formatted} left`,
      // Before there is a rate, the library gives no number.
      formatTime: (seconds) => (Number.isFinite(seconds) ? duration(seconds) : '?'),
      barsize: 20,
      // A killed process could not restore the cursor and the wrapping of lines.
      hideCursor: false,
      linewrap: true,
    },
    Presets.shades_classic,
  );
  let isStarted = false;
  return {
    update(done, total) {
      if (!isStarted) bar.start(total, done);
      isStarted = true;
      bar.setTotal(total);
      bar.update(done);
    },
    stop() {
      if (isStarted) bar.stop();
    },
  };
}

/** Such as `2h 05m`, `3m 20s` or `9s`. */
function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  if (hours > 0) return `${hours}h ${two(minutes)}m`;
  return minutes > 0 ? `${minutes}m ${two(seconds % 60)}s` : `${seconds}s`;
}
