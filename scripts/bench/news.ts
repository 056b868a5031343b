import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '../../src/base/log.ts';
import { basePaths } from '../../src/contract/documents.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { createNotifications } from '../../src/db/connection/notifications.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { createEndpoint } from '../../src/news/endpoints/endpoint-operations.ts';
import { createEndpointSecrets } from '../../src/news/endpoints/endpoint-secret.ts';
import { numberAsTheyCome } from '../../src/news/feed/sequencer.ts';
import { tryDelivery } from '../../src/news/sending/delivery.ts';
import { deliveriesAtOnce } from '../../src/news/sending/endpoint-runner.ts';
import { sendToAll } from '../../src/news/sending/sender.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { quantile } from '../load/answers.ts';
import { openDurableDatabase } from './durable-database.ts';
import { areHeld, below, rounded, type Suite } from './suite.ts';

const perSecond = 500;
const companyId = 'acme';
const secrets = createEndpointSecrets(new Map([['bench', Buffer.alloc(32, 7)]]));
const allowedHosts = ['127.0.0.1'];

type Arrival = readonly [timestamp: string, at: number];

export const newsSuite: Suite = {
  about:
    'News from their commit to a local receiver at 500 a second, against a bare loop of signed POSTs; about a minute',
  async run({ isQuick, say }) {
    const seconds = isQuick ? 5 : 20;
    const backlog = isQuick ? 2_000 : 10_000;
    await using opened = new AsyncDisposableStack();
    const { db, url } = opened.adopt(await openDurableDatabase(), (made) => made.close());
    const receiver = opened.adopt(await startReceiver(), (each) => each.stop());
    const work = await startWork(db, url, receiver.url);
    opened.defer(() => work.stop());

    await write(db, seconds * perSecond);
    const paced = await receiver.take(seconds * perSecond);
    const latencies = paced.map(([timestamp, at]) => at - Date.parse(timestamp));
    const p99 = quantile(latencies, 0.99);
    say(`${perSecond} a second: p99 ${p99} ms, median ${quantile(latencies, 0.5)} ms`);

    await db.raw('INSERT INTO events (company_id, name) SELECT ?, ? FROM generate_series(1, ?::int)', [
      companyId,
      'backlog',
      backlog,
    ]);
    const sent = rateOf(await receiver.take(backlog));
    await postBare(receiver.url, backlog);
    const bare = rateOf(await receiver.take(backlog));
    say(`a backlog of ${backlog}: ${Math.round(sent)} a second; bare signed POSTs: ${Math.round(bare)}`);
    const limits = { p99Ms: below(p99, 1_000) };
    const ratios = { ofBarePosts: rounded(sent / bare) };
    return {
      ok: areHeld(limits),
      limits,
      ratios,
      sentPerSecond: rounded(sent),
      barePerSecond: rounded(bare),
    };
  },
};

/** Creates so many events, each by a transaction of its own, at the pace. */
async function write(db: Database, count: number): Promise<void> {
  const began = performance.now();
  const pending = new Set<Promise<unknown>>();
  for (let made = 0; made < count; made += 1) {
    const due = began + (made * 1_000) / perSecond - performance.now();
    if (due > 0) await delay(due);
    const insert = db('events').insert({ company_id: companyId, name: 'paced' }).then();
    pending.add(insert);
    insert.finally(() => pending.delete(insert));
    if (pending.size >= 8) await Promise.race(pending);
  }
  await Promise.all(pending);
}

const rateOf = (arrivals: readonly Arrival[]): number => {
  const times = arrivals.map(([, at]) => at).toSorted((a, b) => a - b);
  return (arrivals.length * 1_000) / Math.max(1, (times.at(-1) ?? 0) - (times[0] ?? 0));
};

async function startReceiver() {
  const child = fork(new URL('news/receiver.ts', import.meta.url).pathname);
  const [port] = await once(child, 'message');
  const read = async (): Promise<Arrival[]> => {
    const answer = once(child, 'message');
    child.send('read');
    return (await answer)[0];
  };
  return {
    url: `http://127.0.0.1:${port}/news`,
    /** Waits until so many have come. */
    async take(count: number): Promise<Arrival[]> {
      const found: Arrival[] = [];
      while (found.length < count) {
        found.push(...(await read()));
        await delay(100);
      }
      return found;
    },
    stop: () => child.disconnect(),
  };
}

async function startWork(db: Database, url: string, receiverUrl: string) {
  const log = createLogger({ level: 'warn' });
  await inTransaction(db, (tx) =>
    createEndpoint(
      tx,
      { secrets, allowedHosts: ['127.0.0.1'] },
      { companyId, url: receiverUrl, types: null },
    ),
  );
  const notifications = createNotifications({ url, log });
  const outgoing = createOutgoing();
  const stopping = new AbortController();
  const { signal } = stopping;
  const works = [
    numberAsTheyCome(db, signal),
    sendToAll(
      {
        db,
        jobs: { async enqueueAt() {} },
        log,
        notifications,
        outgoing,
        secrets,
        allowedHosts,
        paths: basePaths,
      },
      signal,
    ),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.allSettled(works);
      outgoing.close();
      await notifications.close();
    },
  };
}

/** The same requests without a database: what signing and HTTP cost by themselves. */
async function postBare(url: string, count: number): Promise<void> {
  const outgoing = createOutgoing();
  const callee = outgoing.open({ kind: 'webhook', label: '', maxConcurrent: deliveriesAtOnce });
  const secret = secrets.generate();
  const body = JSON.stringify({
    id: randomUUID(),
    type: 'event.created',
    timestamp: new Date().toISOString(),
    data: { eventId: randomUUID(), href: `/events/v1/api/event/${randomUUID()}` },
    sequence: 1,
    previous: null,
    cursor: '4YkzbQtCLW8xMDQyOjBhNWMyYjhl',
  });
  let left = count;
  const post = async () => {
    while (left > 0) {
      left -= 1;
      await tryDelivery(callee, { url: new URL(url), secrets: [secret], newsId: randomUUID(), body });
    }
  };
  await Promise.all(Array.from({ length: deliveriesAtOnce }, post));
  outgoing.close();
}
