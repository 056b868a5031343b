import { setTimeout as wait } from 'node:timers/promises';
import { errorText } from '../../base/thrown.ts';
import type { Notifications } from '../../db/connection/notifications.ts';
import { type LeasedLoop, startLeasedLoop } from '../../db/leases/leased-loop.ts';
import type { Callee } from '../../outgoing/callee.ts';
import type { Outgoing } from '../../outgoing/outgoing.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type AllowedHosts, isAllowed } from '../endpoints/endpoint-url.ts';
import { sendChannel } from '../endpoints/send-queue.ts';
import { newsChannel } from '../feed/news.ts';
import {
  deliveriesAtOnce,
  type EndpointRunner,
  type RunnerParts,
  startEndpointRunner,
} from './endpoint-runner.ts';
import { listEnabledEndpoints } from './sender-store.ts';

export type SenderParts = RunnerParts & {
  readonly outgoing: Pick<Outgoing, 'open'>;
  readonly notifications: Pick<Notifications, 'subscribe'>;
  readonly allowedHosts: AllowedHosts;
};

// How soon an endpoint that was created, changed or enabled is noticed.
const lookMs = 1_000;

type Running = {
  readonly endpoint: Endpoint;
  readonly runner: EndpointRunner;
  readonly callee: Callee;
  readonly stop: AbortController;
};

/** Sends news to all endpoints, each at its own pace, until the signal aborts. A runner that fails ends alone, and begins again within a second. */
export async function sendToAll(parts: SenderParts, signal: AbortSignal): Promise<void> {
  const { db, log, notifications } = parts;
  const running = new Map<string, Running>();
  const failures = new Map<string, unknown>();
  const told = new Map<string, string>();
  /** Logs each error of an endpoint once. */
  const tell = (id: string, err: unknown) => {
    if (told.get(id) !== errorText(err))
      log.error({ err, endpoint: id }, 'nothing can be sent to an endpoint');
    told.set(id, errorText(err));
  };
  const wake = (concerns: (endpoint: Endpoint) => boolean) => {
    for (const { endpoint, runner } of running.values()) if (concerns(endpoint)) runner.wake();
  };
  const subscriptions = [
    await notifications.subscribe({
      channel: newsChannel,
      onNotify: (companyId) => wake((endpoint) => endpoint.companyId === companyId),
      onGap: () => wake(() => true),
    }),
    await notifications.subscribe({
      channel: sendChannel,
      onNotify: (id) => wake((endpoint) => endpoint.id === id),
      onGap() {}, // wakes all, above
    }),
  ];
  const end = (id: string) => {
    const found = running.get(id);
    found?.stop.abort();
    found?.callee.close();
    running.delete(id);
  };
  try {
    while (!signal.aborted) {
      const enabled = new Map((await listEnabledEndpoints(db)).map((endpoint) => [endpoint.id, endpoint]));
      for (const [id, err] of failures) {
        tell(id, err);
        end(id);
      }
      failures.clear();
      for (const [id, { endpoint }] of running) if (isOther(endpoint, enabled.get(id))) end(id);
      for (const [id, endpoint] of enabled) {
        if (running.has(id)) continue;
        try {
          const started = start(parts, endpoint, signal);
          running.set(id, started);
          started.runner.done.catch((err: unknown) => {
            if (running.get(id) === started) failures.set(id, err);
          });
        } catch (err) {
          // Such as a secret whose key is missing: the others are sent to.
          tell(id, err);
        }
      }
      await wait(lookMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    for (const unsubscribe of subscriptions) unsubscribe();
    for (const id of [...running.keys()]) end(id);
  }
}

/** Whether an endpoint is no longer what a runner sends to. */
const isOther = (known: Endpoint, now: Endpoint | undefined) =>
  now === undefined ||
  now.updatedAt.getTime() !== known.updatedAt.getTime() ||
  now.secrets.join() !== known.secrets.join();

function start(parts: SenderParts, endpoint: Endpoint, signal: AbortSignal): Running {
  const stop = new AbortController();
  const url = new URL(parts.secrets.openUrl(endpoint));
  const isPublicOnly = !isAllowed(url, parts.allowedHosts);
  const callee = parts.outgoing.open({
    kind: 'webhook',
    label: '',
    maxConcurrent: deliveriesAtOnce,
    failingStatus: Number.POSITIVE_INFINITY,
    isPublicOnly,
  });
  try {
    const runner = startEndpointRunner(
      parts,
      { ...endpoint, url },
      callee,
      AbortSignal.any([signal, stop.signal]),
    );
    return { endpoint, runner, callee, stop };
  } catch (error) {
    callee.close();
    throw error;
  }
}

/** Starts the sender: one process of all sends news. */
export const startSender = (parts: SenderParts): LeasedLoop =>
  startLeasedLoop({ ...parts, name: 'news sender', run: (signal) => sendToAll(parts, signal) });
