/** All that happens in a life. The same plan gives the same life, and a part of it another one. */
export type Plan = {
  readonly seed: number;
  readonly companies: number;
  /** Of each company. */
  readonly rwas: number;
  readonly signers: number;
  readonly workers: readonly { readonly offset: number; readonly rate: number }[];
  /** For each node, what it is like for good. */
  readonly nodes: readonly PlannedNode[];
  readonly events: readonly PlannedEvent[];
};

export type PlannedNode = { readonly quality: string; readonly draw: number; readonly ms: number };

export type PlannedEvent = {
  /** In milliseconds since the event before. */
  readonly after: number;
  readonly kind: string;
  /** Decides all that is left to chance in it, so that an event is the same without the others. */
  readonly draw: number;
};
