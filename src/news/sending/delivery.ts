import { Webhook } from 'standardwebhooks';
import type { Callee } from '../../outgoing/callee.ts';
import { OutgoingFault } from '../../outgoing/outgoing-fault.ts';
import { ForbiddenHostError } from '../../outgoing/public-address.ts';
import { retryAfterMs } from './retry-schedule.ts';

export type Try = {
  readonly url: URL;
  /** In clear; each signs. */
  readonly secrets: readonly string[];
  readonly newsId: string;
  readonly body: string;
};

/** The answer, or why there was none. */
export type TryResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly text: string;
      readonly retryAfterMs: number;
    }
  | { readonly kind: 'unanswered'; readonly error: string }
  /** Nothing was sent: the circuit breaker is open for this time. */
  | { readonly kind: 'shut'; readonly retryAfterMs: number };

const timeoutMs = 15_000;
const keptBytes = 1_024;

/** Sends news once, signed as Standard Webhooks says. Never rejects for what the receiver does. */
export async function tryDelivery(callee: Callee, { url, secrets, newsId, body }: Try): Promise<TryResult> {
  const now = new Date();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Tallystick',
    'webhook-id': newsId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(newsId, now, body)).join(' '),
  };
  const request = { method: 'POST', url, headers, body } as const;
  try {
    const answer = await callee.send(
      { ...request, maxBytes: keptBytes, statusDecides: true },
      { timeoutMs, about: 'webhook' },
    );
    const { status, text } = answer;
    return {
      kind: 'answered',
      status,
      text: storable(text),
      retryAfterMs: retryAfterMs(answer.headers['retry-after']),
    };
  } catch (error) {
    if (error instanceof OutgoingFault && error.reason === 'shut') {
      return { kind: 'shut', retryAfterMs: error.retryAfterMs ?? 0 };
    }
    if (error instanceof ForbiddenHostError || isUnresolved(error))
      return { kind: 'unanswered', error: `${url.hostname.replace(/^\[|\]$/g, '')} is no public host` };
    if (error instanceof OutgoingFault) return { kind: 'unanswered', error: error.message };
    throw error;
  }
}

/** Whether the name has no address: who asks about names inside must not learn which of them exist. */
const isUnresolved = (error: unknown): boolean =>
  error instanceof OutgoingFault && error.cause instanceof Error && 'hostname' in error.cause;

// PostgreSQL stores no U+0000.
const storable = (text: string) => text.replaceAll('\0', '\uFFFD').toWellFormed();
