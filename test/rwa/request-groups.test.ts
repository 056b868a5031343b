import { describe, expect, test } from 'vitest';
import { currentScope, inScope } from '../../src/base/request-scope.ts';
import { createRequestGroups } from '../../src/rwa/minting/accept/request-groups.ts';

type Wanted = { readonly line: string; readonly subject: string; readonly name: string };

const wanted = (name: string, subject = name, line = 'line'): Wanted => ({ line, subject, name });

/** Groups that run only when they are let go; each request is answered with its own name. */
function createGroups(patienceMs?: number) {
  const groups: string[][] = [];
  const held: (() => void)[] = [];
  const add = createRequestGroups<Wanted, string>({
    patienceMs,
    lineOf: ({ line }) => line,
    subjectOf: ({ subject }) => subject,
    async run(requests) {
      groups.push(requests.map(({ name }) => name));
      await new Promise<void>((go) => held.push(go));
      return requests.map(({ name }) => name);
    },
  });
  /** Lets the oldest group end, and whoever waits for it go on. */
  const end = async () => {
    held.shift()?.();
    await nextTick();
  };
  return { add, groups, end };
}

const nextTick = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('requests that come at the same time', () => {
  test('are one group, each with the outcome of its own', async () => {
    const { add, groups, end } = createGroups();
    const outcomes = ['a', 'b', 'c'].map((name) => add(wanted(name)));
    await nextTick();
    expect(groups).toEqual([['a', 'b', 'c']]);
    await end();
    expect(await Promise.all(outcomes)).toEqual(['a', 'b', 'c']);
  });

  test('of two lines have nothing in common', async () => {
    const { add, groups } = createGroups();
    void add(wanted('a', 'a', 'one'));
    void add(wanted('b', 'b', 'other'));
    await nextTick();
    expect(groups).toEqual([['a'], ['b']]);
  });

  test('of strangers and a company take the share of each', async () => {
    const shares: string[] = [];
    const add = createRequestGroups<string, string>({
      lineOf: () => 'acme',
      subjectOf: (name) => name,
      async run(names) {
        shares.push(`${currentScope()?.tenant} ${names.join()}`);
        await nextTick();
        return names;
      },
    });
    const { signal } = new AbortController();
    const ask = (tenant: string, name: string) => inScope({ tenant, signal, isRead: false }, () => add(name));
    const asked = ['public', 'acme', 'public', 'public', 'acme'].map((who, index) => ask(who, String(index)));
    await nextTick();
    // Behind what runs, whose line goes on by itself.
    asked.push(ask('acme', '5'), ask('public', '6'));
    await Promise.all(asked);
    expect(shares.toSorted()).toEqual(['acme 1,4', 'acme 5', 'public 0,2,3', 'public 6']);
  });

  test('for the same subject go into different groups, in the order in which they came', async () => {
    const { add, groups, end } = createGroups();
    for (const [name, subject] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
      ['a3', 'a'],
    ] as const) {
      void add(wanted(name, subject));
    }
    await nextTick();
    expect(groups).toEqual([['a1', 'b1'], ['a2']]);
    await end();
    expect(groups.at(-1)).toEqual(['a3']);
  });

  test('over thirty-two go into the next group', async () => {
    const { add, groups, end } = createGroups();
    for (let index = 0; index < 70; index += 1) void add(wanted(String(index)));
    await nextTick();
    await end();
    expect(groups.map(({ length }) => length)).toEqual([32, 32, 6]);
  });
});

describe('while two groups run', () => {
  test('those that come wait, and the next group takes them together', async () => {
    const { add, groups, end } = createGroups();
    void add(wanted('a'));
    await nextTick();
    void add(wanted('b'));
    await nextTick();
    for (const name of ['c', 'd', 'e']) void add(wanted(name));
    await nextTick();
    expect(groups).toEqual([['a'], ['b']]);
    await end();
    expect(groups.at(-1)).toEqual(['c', 'd', 'e']);
  });

  test('one whose turn does not come in time is refused, and never run', async () => {
    const { add, groups, end } = createGroups(20);
    void add(wanted('a'));
    await nextTick();
    void add(wanted('b'));
    await nextTick();
    await expect(add(wanted('late'))).rejects.toMatchObject({ code: 'service_unavailable' });
    await end();
    await end();
    expect(groups).toEqual([['a'], ['b']]);
  });
});

test('a group that fails fails for each of its requests, and the next one runs', async () => {
  let isBroken = true;
  const add = createRequestGroups<Wanted, string>({
    lineOf: () => '',
    subjectOf: ({ subject }) => subject,
    async run(requests) {
      if (isBroken) throw new Error('broken');
      return requests.map(({ name }) => name);
    },
  });
  const ends = await Promise.allSettled([add(wanted('a')), add(wanted('b'))]);
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  expect(await add(wanted('c'))).toBe('c');
});
