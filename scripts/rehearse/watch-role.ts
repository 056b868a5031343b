import { readFile } from 'node:fs/promises';
import type { RunningProcess } from '../../test/support/process.ts';

// Of a step of the build, which downloads what the lock file names.
const limitMs = 300_000;

/**
 * Waits until a program has ended with status 0.
 * @returns what it wrote
 * @throws Error with what it wrote, when it ends otherwise or not at all
 */
export async function untilEnded(running: RunningProcess): Promise<string> {
  const timer = setTimeout(() => running.child.kill('SIGKILL'), limitMs);
  const status = await running.ended;
  clearTimeout(timer);
  if (status !== 0) throw new Error(`It ended with ${status}:\n${running.output()}`);
  return running.output();
}

/** Looks whether a role answers operators and, if it has them, callers and readers of the portal; then stops it by SIGTERM. */
export async function serveAndStop(running: RunningProcess, hasCallers: boolean): Promise<void> {
  try {
    const [, port, operations] = await running.until(/(?:"port":(\d+),)?"operationsPort":(\d+)/);
    const paths = ['healthz', 'readyz', 'metrics'].map((path) => `${operations}/${path}`);
    for (const path of [...paths, ...(hasCallers ? [`${port}/docs/`, `${port}/healthz`] : [])]) {
      const { status } = await fetch(`http://127.0.0.1:${path}`, { signal: AbortSignal.timeout(10_000) });
      if (status !== 200) throw new Error(`${path} answered ${status}`);
    }
    process.kill(await firstChildOf(running.child.pid ?? 0), 'SIGTERM');
    const output = await untilEnded(running);
    if (!output.includes('service stopped')) throw new Error(`It did not stop in order:\n${output}`);
  } finally {
    running.child.kill('SIGKILL');
  }
}

/** What a runtime signals: process 1 of the namespace, by its number outside. */
async function firstChildOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')[0]);
}
