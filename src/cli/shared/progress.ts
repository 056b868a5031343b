import { Presets, SingleBar } from 'cli-progress';

export type Progress = { update(done: number, total: number): void; stop(): void };

/** A stream that may be a terminal. */
export type Watched = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * A progress bar with the time left. It is silent when the stream is no terminal.
 * @param unit what is counted; with it the bar shows the rate too
 */
export function createProgress(stream: Watched, what: string, unit?: string): Progress {
  if (!stream.isTTY) return { update() {}, stop() {} };
  const bar = new SingleBar(
    {
      stream,
      format: `${what} {bar} {percentage}% | {value}/{total} |${unit === undefined ? '' : ` {rate} ${unit}/s |`} {left} left`,
      barsize: 20,
      // A killed process could not restore the cursor and the wrapping of lines.
      hideCursor: false,
      linewrap: true,
    },
    Presets.shades_classic,
  );
  let started: { readonly at: number; readonly done: number } | undefined;
  const paceOf = (done: number, total: number, since: NonNullable<typeof started>) => {
    const seconds = (performance.now() - since.at) / 1_000;
    const rate = (done - since.done) / seconds;
    // A rate over less than a second says little.
    if (seconds < 1 || rate === 0) return { rate: '-', left: total === done ? '0s' : '?' };
    return { rate: rate.toFixed(1), left: duration((total - done) / rate) };
  };
  return {
    update(done, total) {
      const since = started ?? { at: performance.now(), done };
      if (started === undefined) bar.start(total, done, paceOf(done, total, since));
      started = since;
      bar.setTotal(total);
      bar.update(done, paceOf(done, total, since));
    },
    stop() {
      if (started !== undefined) bar.stop();
    },
  };
}

/** Such as `2h 05m`, `3m 20s` or `9s`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  if (hours > 0) return `${hours}h ${two(minutes)}m`;
  return minutes > 0 ? `${minutes}m ${two(whole % 60)}s` : `${whole}s`;
}
