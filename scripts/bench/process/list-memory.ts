import { setTimeout as pause } from 'node:timers/promises';
import { basePaths } from '../../../src/contract/documents.ts';
import { insertCompany } from '../../../src/keys/company-store.ts';
import { issueKey } from '../../../src/keys/key-store.ts';
import { residentMb } from '../http/cores.ts';
import type { DataSet } from '../http/data-set.ts';
import { insertEvents } from '../http/fill.ts';
import { startService } from '../start-service.ts';

export type ListMemory = {
  readonly name: string;
  readonly megabytes: number;
  readonly beforeMb: number;
  /** Beyond that, at most. */
  readonly moreMb: number;
};

type Environment = Readonly<Record<string, string>>;
type Say = (line: string) => void;
type List = {
  readonly name: string;
  readonly path: string;
  readonly key: string;
  /** Whether who asks stops reading now and then. */
  readonly pauses: boolean;
};

const sampleMs = 20;
const whole = { events: 10_000, attendees: 100_000 };
const quick = { events: 500, attendees: 5_000 };

/**
 * What a process uses, at most, while it answers with whole lists: of two sizes, to one who reads and to one who
 * pauses. Each list is asked of a process of its own that has answered a few small reads, so that no heap that was grown
 * before hides what it takes.
 */
export async function measureLists(
  env: Environment,
  data: DataSet,
  { isQuick, say }: { readonly isQuick: boolean; readonly say: Say },
): Promise<ListMemory[]> {
  const small = await addCompany(data.db, isQuick ? quick : whole);
  const events = `${basePaths.events}/event`;
  const attendees = `${events}/${small.attended}/attendees`;
  const lists: readonly List[] = [
    { name: 'fewEvents', path: events, key: small.key, pauses: false },
    { name: 'events', path: events, key: data.key, pauses: false },
    { name: 'eventsPaused', path: events, key: data.key, pauses: true },
    { name: 'attendees', path: attendees, key: small.key, pauses: false },
    { name: 'attendeesPaused', path: attendees, key: small.key, pauses: true },
  ];
  const found: ListMemory[] = [];
  for (const list of lists) {
    const memory = await measure(env, list);
    say(
      `  ${list.name}: ${memory.megabytes} MB read, ${memory.beforeMb} MB held before, ${memory.moreMb} more at most`,
    );
    found.push(memory);
  }
  return found;
}

/** A company with fewer events, of which one has attendees. */
async function addCompany(db: DataSet['db'], sizes: typeof whole) {
  const { id: companyId } = await insertCompany(db, { name: 'small' });
  const { key } = await issueKey(db, 'live', { companyId, label: 'bench' });
  await insertEvents(db, companyId, sizes.events);
  const [event] = await db('events').where({ company_id: companyId }).limit(1);
  await db.raw(
    `INSERT INTO attendees (company_id, event_id, attendee_id, created_at)
     SELECT ?, ?, 'guest-' || n, now() FROM generate_series(1, ?::int) AS n`,
    [companyId, event.id, sizes.attendees],
  );
  await db('events').where({ id: event.id }).update({ total_attendees: sizes.attendees });
  return { key, attended: String(event.id) };
}

async function measure(env: Environment, { name, path, key, pauses }: List): Promise<ListMemory> {
  const service = await startService(env);
  try {
    const ask = (query: string) =>
      fetch(`http://127.0.0.1:${service.port}${path}${query}`, { headers: { 'x-api-key': key } });
    for (let small = 0; small < 5; small += 1) await (await ask('?limit=10')).arrayBuffer();
    // What is compiled and opened after the first answers.
    await pause(1_000);
    const beforeMb = residentMb(service.pid);
    let mostMb = beforeMb;
    const sampling = setInterval(() => {
      mostMb = Math.max(mostMb, residentMb(service.pid));
    }, sampleMs);
    const bytes = await read(await ask(''), pauses).finally(() => clearInterval(sampling));
    return { name, megabytes: Math.round(bytes / 1e5) / 10, beforeMb, moreMb: mostMb - beforeMb };
  } finally {
    await service.stop();
  }
}

const pauseEveryBytes = 8_000_000;
const pauseMs = 500;

async function read(answer: Response, pauses: boolean): Promise<number> {
  if (!answer.ok) throw new Error(`A list was answered ${answer.status}.`);
  let bytes = 0;
  let next = 1;
  for await (const piece of answer.body ?? []) {
    bytes += piece.length;
    if (!pauses || bytes < next) continue;
    next = bytes + pauseEveryBytes;
    await pause(pauseMs);
  }
  return bytes;
}
