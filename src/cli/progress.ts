import { Presets, SingleBar } from 'cli-progress';

export type Progress = { update(done: number, total: number): void; stop(): void };

/** A stream that a person may be looking at. */
export type Watched = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** A bar with the time left on a terminal; silent where nobody watches. */
export function createProgress(stream: Watched, what: string): Progress {
  if (!stream.isTTY) return { update() {}, stop() {} };
  const bar = new SingleBar(
    {
      stream,
      format: `${what} {bar} {percentage}% | {value}/{total} | {eta_formatted} left`,
      // A process that is killed could not bring the cursor or the wrapping of lines back.
      hideCursor: false,
      linewrap: true,
    },
    Presets.shades_classic,
  );
  let started = false;
  return {
    update(done, total) {
      if (!started) bar.start(total, 0);
      started = true;
      bar.setTotal(total);
      bar.update(done);
    },
    stop() {
      if (started) bar.stop();
    },
  };
}
