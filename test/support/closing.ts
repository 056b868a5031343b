import { onTestFinished } from 'vitest';

/** Closes what a test opened, after that test: the last one first. */
export function closing<Opened extends { close(): unknown }>(opened: Opened): Opened {
  onTestFinished(async () => {
    await opened.close();
  });
  return opened;
}
