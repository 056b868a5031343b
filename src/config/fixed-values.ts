/** Values that no operator needs to change. Tests change them, so as not to wait. */
export const fixedValues = {
  /** How long a request waits for earlier requests of its company. A client that tries again is served as soon. */
  maxWaitMs: 1_000,
  /** Mean delay of the event loop from which on no request waits: the process has more to do than it can. */
  maxLoopDelayMs: 100,
  /** Time for a response. Longer than each of the waits for a lock, a node or the hosted provider. */
  requestDeadlineMs: 15_000,
  /** Responses that callers have not read yet. A tenth of the memory that the deployment gives a process. */
  maxAnswerBytes: 128 * 1024 * 1024,
  /** How long a statement waits for a locked row: longer than a transaction of the service takes. */
  lockTimeoutMs: 2_000,
  /** How far the replica may be behind. Streaming replicas of one region are behind by less than a second. */
  replicaMaxLagMs: 5_000,
  /** Rejected keys of one address in a minute: far more than mistakes, far fewer than guessing takes. 0 is no limit. */
  unknownKeysPerMinute: 120,
  /** Each of the caches that companies fill: balances, what wallets own, states of contracts. */
  maxCacheBytes: 24 * 1024 * 1024,
  /** One answer of the hosted provider, and a request with all its tries. Its slowest answers take some seconds. */
  providerTimeoutMs: 10_000,
  providerDeadlineMs: 12_000,
  /** Between two polls of a chain on which mints are in progress. */
  mintPollMs: 1_000,
  /** After which a transaction without a block is sent again as it is: nodes forget some. */
  mintRebroadcastMs: 15_000,
  /** After which another process takes over the lanes of a silent one. A pause of a process is shorter. */
  mintLeaseSeconds: 15,
  /** After which an NFT without a reason is reported. A mint that is replaced twice on a slow network takes less. */
  mintStandstillSeconds: 1_800,
} as const;

export type FixedValues = { readonly [Name in keyof typeof fixedValues]: number };
