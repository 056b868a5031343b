import type { RpcAnswer } from './answer.ts';

/** The way to one node. */
export type Transport = {
  /**
   * Asks once. The node's own errors are answers.
   * @throws NodeFault when there is no answer, or one that is none
   */
  ask(method: string, params: readonly unknown[] | object, limits: Limits): Promise<RpcAnswer>;
  /** Ends every connection; calls in progress fail. */
  close(): void;
};

export type Limits = {
  /** From the call to the last byte of its answer. */
  readonly timeoutMs: number;
  /** Size of an answer after decompression. */
  readonly maxBytes: number;
};
