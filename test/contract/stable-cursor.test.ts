import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { insertCompany } from '../../src/keys/company-store.ts';
import { issueKey } from '../../src/keys/key-store.ts';
import { test } from '../support/fixtures.ts';
import type { Client, TestService } from '../support/service.ts';
import { type ChangingList, changingLists, type Scene } from './changing-lists.ts';

type Item = { readonly id?: string; readonly attendeeId?: string };
type Body = Item[] | { readonly rwas: Item[]; readonly cursor: string | null };

/** A page, and the path of the next one. */
async function page(client: Client, path: string) {
  const { body, headers }: { body: Body; headers: Record<string, string> } = await client
    .get(path)
    .expect(200);
  const [items, cursor] = Array.isArray(body) ? [body, headers['x-next-cursor']] : [body.rwas, body.cursor];
  const next = /^<(.+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
  expect(cursor ?? null).toBe(next ? new URL(next, 'http://here').searchParams.get('cursor') : null);
  return { ids: items.map(({ id, attendeeId }) => String(id ?? attendeeId)), next };
}

/** What a walk has seen, and what was done to the list meanwhile. */
type Walk = {
  readonly seen: string[];
  /** Those that were not seen when they went. */
  readonly gone: Set<string>;
  readonly before: string[];
  readonly behind: string[];
};

/** Walks the list by `Link` and changes it around the last row of each page, or of a page now and then. */
async function walkWhileChanging({ client }: Scene, list: ChangingList, limit: number): Promise<Walk> {
  const walk: Walk = { seen: [], gone: new Set(), before: [], behind: [] };
  // More is read than is added, so that the walk has an end.
  const every = Math.ceil(6 / limit);
  const first = `${list.path}&limit=${limit}`;
  for (let [path, number]: [string | undefined, number] = [first, 1]; path !== undefined; number += 1) {
    const { ids, next } = await page(client, path);
    walk.seen.push(...ids);
    // A cursor that leads to where it came from would never end.
    expect(number).toBeLessThan(100);
    path = next;
    if (path !== undefined && number % every === 0) await changeAround(list, walk);
  }
  return walk;
}

async function changeAround(list: ChangingList, walk: Walk): Promise<void> {
  const { order, rows } = list;
  const { seen, gone, before, behind } = walk;
  const last = seen.at(-1) ?? '';
  const added = await list.add(last);
  before.push(...added.before);
  behind.push(...added.behind);
  const ahead = rows.filter((id) => !seen.includes(id) && !gone.has(id));
  const passed = rows.findLast((id) => seen.includes(id)) ?? '';
  await list.touch?.(passed);
  if (ahead[1] !== undefined) await list.touch?.(ahead[1]);
  await wakeAround(list, walk, { passed, ahead: ahead[0] });
  if (list.remove === undefined) return;
  if (ahead[2] !== undefined) {
    await list.remove(ahead[2]);
    gone.add(ahead[2]);
  }
  // The row that the cursor stands on, if it was there at the start.
  if (order.includes(last)) await list.remove(last);
}

async function wakeAround(
  { order, rows, wake }: ChangingList,
  { before, behind }: Walk,
  { passed, ahead }: { readonly passed: string; readonly ahead: string | undefined },
): Promise<void> {
  if (wake === undefined) return;
  const asleep = order.filter((id) => !rows.includes(id) && !before.includes(id) && !behind.includes(id));
  const early = asleep.find((id) => order.indexOf(id) < order.indexOf(passed));
  if (early !== undefined) {
    await wake(early);
    before.push(early);
  }
  if (ahead === undefined) return;
  const late = asleep.findLast((id) => order.indexOf(id) > order.indexOf(ahead));
  if (late !== undefined) {
    await wake(late);
    behind.push(late);
  }
}

async function sceneOf({ db, as }: TestService): Promise<Scene> {
  const { id: companyId } = await insertCompany(db, { name: randomUUID() });
  const { key } = await issueKey(db, 'test', { companyId, label: 'walker' });
  return { db, client: as(key), companyId };
}

describe.for(Object.entries(changingLists))(
  'a walk by the cursor over %s, while rows change',
  ([_, given]) => {
    test.for([1, 7])('sees each row once and in its order, %i at a time', async (limit, { service }) => {
      const scene = await sceneOf(service);
      const list = await given(scene);
      const { seen, gone, before, behind } = await walkWhileChanging(scene, list, limit);
      expect(behind.length).toBeGreaterThan(1);
      const stayed = list.rows.filter((id) => !gone.has(id));
      expect(seen.filter((id) => stayed.includes(id))).toEqual(stayed);
      // What was added behind the place of the walk is seen once, what came before it or went is not.
      expect(seen.toSorted()).toEqual([...stayed, ...behind].toSorted());
      for (const id of [...before, ...gone]) expect(seen).not.toContain(id);
      const { ids: left } = await page(scene.client, `${list.path}&limit=200`);
      expect(seen.filter((id) => left.includes(id))).toEqual(left.filter((id) => seen.includes(id)));
    });
  },
);
