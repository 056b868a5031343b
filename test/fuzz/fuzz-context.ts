import { type Ids, type OperationId, rows, unknownIds } from '../contract/operations.ts';
import type { SentRequest } from '../contract/sender.ts';
import type { Answer } from '../support/conformance.ts';
import type { Pool } from './drafts.ts';
import type { Surroundings } from './hints.ts';
import type { Door } from './local-target.ts';
import type { Prober } from './prober.ts';

/** What every property works with: the target, its keys and the values that drafts draw from. */
export type FuzzContext = Surroundings & {
  readonly key: string;
  /** Of another company. */
  readonly otherKey: string | undefined;
  readonly pool: Pool;
  /** An RWA that can be claimed on a network that mints. */
  readonly mintable: string | undefined;
  /** Of a local target. */
  readonly door: Door | undefined;
};

export type CallOptions = {
  readonly ids?: Partial<Ids>;
  readonly query?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
};

/** Calls an operation by the row that the contract tests have of it. */
export function caller({ key }: FuzzContext, prober: Prober) {
  return async (id: OperationId, options: CallOptions = {}): Promise<Reply> => {
    const row = rows[id];
    const ids = { ...unknownIds(), ...options.ids };
    const body = options.body ?? row.body?.(ids);
    const path = row.path(ids);
    const sent: SentRequest = {
      area: row.area,
      method: row.method,
      path: options.query === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${options.query}`,
      headers: {
        'x-api-key': options.key ?? key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    return toReply(await prober.send(sent));
  };
}

export type Reply = Answer & {
  /** Parsed; null where there is none. */
  readonly json: Record<string, unknown>;
  /** `201`, or `404 event_not_found` of a problem. */
  readonly outcome: string;
};

function toReply(answer: Answer): Reply {
  const json = answer.text === '' ? null : JSON.parse(answer.text);
  const outcome = answer.status < 400 ? String(answer.status) : `${answer.status} ${json?.code}`;
  return { ...answer, json, outcome };
}
