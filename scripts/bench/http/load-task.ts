import type { Request } from './connection.ts';

/** What a process that makes load is asked for. */
export type LoadTask = {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Taken in turns. `{n}` in a body is another number in each request. */
  readonly requests: readonly Request[];
  readonly status: number;
  /**
   * Requests a second, sent when they are due whether earlier ones are answered or not, while a connection is free; as
   * fast as answers come without it.
   */
  readonly perSecond?: number;
};

/** Times are from when a request was due until its whole answer is there. */
export type LoadFigures = {
  readonly answered: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly bytes: number;
};
