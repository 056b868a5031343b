import type { RpcAnswer } from './answer.ts';

/** The connection to one node. */
export type Transport = {
  /**
   * Sends one request. An error with which the node answers is an answer.
   * @throws NodeFault when there is no answer, or an invalid one
   */
  ask(method: string, params: readonly unknown[] | object, limits: Limits): Promise<RpcAnswer>;
  /** Closes every connection; calls in progress fail. */
  close(): void;
};

type Limits = {
  /** From the request to the last byte of its answer. */
  readonly timeoutMs: number;
  /** Greatest size of an answer after decompression. */
  readonly maxBytes: number;
  /** Waits for a node that is asked too much, and asks it again; by default the caller gets to know. */
  readonly isPatient?: boolean | undefined;
  /** A question that many nodes reject for good: that they do does not show that they limit all. */
  readonly isSpecial?: boolean | undefined;
};
