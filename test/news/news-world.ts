import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Knex } from 'knex';
import { onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { basePaths } from '../../src/contract/documents.ts';
import { createDatabase } from '../../src/db/connection/connect.ts';
import { createNotifications } from '../../src/db/connection/notifications.ts';
import { createJobQueue } from '../../src/jobs/queue.ts';
import { createEndpointSecrets } from '../../src/news/endpoints/endpoint-secret.ts';
import { createSendJob, sendQueue } from '../../src/news/endpoints/send-queue.ts';
import { numberAsTheyCome } from '../../src/news/feed/sequencer.ts';
import type { SenderStep } from '../../src/news/sending/endpoint-runner.ts';
import { sendToAll } from '../../src/news/sending/sender.ts';
import { createOutgoing } from '../../src/outgoing/outgoing.ts';
import { asUser } from '../support/database.ts';

export const feedPath = '/news/v1/api/feed';
export const endpointPath = '/news/v1/api/endpoint';

const log = createLogger({ level: 'silent' });

/** Those of the service under test. */
const secrets = createEndpointSecrets(new Map([['test', Buffer.alloc(32, 7)]]));

/** Writes news of the company, of one subject each, with a mark in its data. @returns the marks */
export async function writeNews(
  db: Knex,
  companyId: string,
  subjects: readonly string[],
  type = 'event.updated',
) {
  await db.raw(
    `INSERT INTO news (company_id, type, subject, data)
     SELECT ?, ?, s, jsonb_build_object('eventId', s) FROM unnest(?::uuid[]) WITH ORDINALITY AS t (s, n) ORDER BY n`,
    [companyId, type, [...subjects]],
  );
}

type WorkOptions = {
  /** What wakes the sender for another try. */
  readonly retries?: 'jobs alone' | 'fallback alone';
  readonly step?: (step: SenderStep) => Promise<void>;
  readonly allowedHosts?: readonly string[];
  readonly signal?: AbortSignal;
};

/** Numbers news and sends them, by the rights of a worker, until it is stopped or the test ends. */
export function startNewsWork(
  databaseUrl: string,
  { step, retries = 'jobs alone', allowedHosts = ['127.0.0.1'] }: WorkOptions = {},
) {
  const url = asUser(databaseUrl, 'test_worker');
  const db = createDatabase(url, { poolMax: 5, log });
  const notifications = createNotifications({ url, log });
  const outgoing = createOutgoing();
  const stopping = new AbortController();
  const { signal } = stopping;
  const jobs = createJobQueue({ db, queues: { keyed: [sendQueue], scheduled: [] }, works: true, log });
  const byJobs = retries === 'jobs alone';
  const fallbackMs = byJobs ? 3_600_000 : 500;
  const parts = {
    db,
    jobs,
    fallbackMs,
    log,
    notifications,
    outgoing,
    secrets,
    allowedHosts,
    paths: basePaths,
    step,
  };
  const failed = Promise.withResolvers<unknown>();
  const works = [numberAsTheyCome(db, signal), sendToAll(parts, signal)];
  if (byJobs) works.push(jobs.work({ scheduled: [], keyed: [createSendJob(db)] }));
  for (const work of works) work.catch(failed.resolve);
  const stop = async () => {
    stopping.abort();
    await Promise.allSettled(works);
    outgoing.close();
    await jobs.stop(0);
    await notifications.close();
    await db.destroy();
  };
  return { stop, failed: failed.promise };
}

export type Received = {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly id: string;
    readonly type: string;
    readonly sequence: number;
    readonly previous: number | null;
    readonly cursor: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
};

type Reply = { readonly status?: number; readonly headers?: Record<string, string>; readonly text?: string };

/** A receiver on this machine. @param answer what it answers; undefined keeps the caller waiting */
export async function startReceiver(
  answer: (got: Received, count: number) => Reply | undefined = () => ({}),
) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a request without an encoding
    const text = Buffer.concat(chunks).toString();
    const got = { headers: request.headers, text, body: JSON.parse(text) };
    received.push(got);
    const reply = answer(got, received.length);
    if (reply === undefined) return;
    response.writeHead(reply.status ?? 204, reply.headers).end(reply.text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { url: `http://127.0.0.1:${port}/news`, received, close };
}
