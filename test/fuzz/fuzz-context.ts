import type { OperationId } from '../contract/operations.ts';
import { type CallOptions, requestOf } from '../contract/session.ts';
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

/** Calls an operation by the row that the contract tests have of it. */
export function caller({ key }: FuzzContext, prober: Prober) {
  return async (id: OperationId, options: CallOptions = {}): Promise<Reply> =>
    toReply(await prober.send(requestOf(id, options, key)));
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
