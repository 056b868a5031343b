import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../src/base/log.ts';
import { createDatabase } from '../../../src/db/connection/connect.ts';
import type { Replica } from '../../load/replica.ts';

const soonMs = 2_000;

/** Whether a server of this URL answers a statement in a moment. */
export async function answersSoon(databaseUrl: string): Promise<boolean> {
  const db = createDatabase(databaseUrl, { poolMax: 1, log: createLogger({ level: 'silent' }) });
  const asked = db.raw('SELECT 1').then(
    () => true,
    () => false,
  );
  const answers = await Promise.race([asked, pause(soonMs, false)]);
  // One that hangs may take as long to be let go of; nobody waits for it.
  void db.destroy().catch(() => {});
  return answers;
}

/** Whether this process was started with such a word, and runs. */
export const runsWith = ({ pid }: Replica, word: string): boolean =>
  readProc(pid, 'cmdline').split('\0').includes(word);

/** How many files the process may open; 0 when that is not to be known. */
export const filesLimit = ({ pid }: Replica): number =>
  Number(/^Max open files\s+(\d+)/m.exec(readProc(pid, 'limits'))?.[1] ?? 0);

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** A metric of a process, by its whole name with labels; undefined without it. */
export async function metricOf({ operationsPort }: Replica, name: string): Promise<number | undefined> {
  const text = await fetch(`http://127.0.0.1:${operationsPort}/metrics`).then((answer) => answer.text());
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
