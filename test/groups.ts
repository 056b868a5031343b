/**
 * The files of `npm run test:processes`: they start the service, its workers or its commands as processes, servers of
 * their own, or kill them, and most of their time is starts and stops. `npm test` runs what is
 * in none of these groups.
 */
export const processTests = [
  'test/service/**/*.test.ts',
  'test/local/**/*.test.ts',
  'test/cli/{bin,doctor-replica,index,init,mcp}.test.ts',
  'test/indexer/kill.test.ts',
  'test/keys/revocation.test.ts',
  'test/minting/{killed-worker,metadata-reports}.test.ts',
  'test/monitoring/live-*.test.ts',
] as const;

/**
 * The files of `npm run test:slow`: what makes so many rows that making them takes most of the time, and what waits until
 * something has been silent for long enough.
 */
export const slowTests = [
  'test/blockchain/moving-lists.test.ts',
  'test/db/silence.test.ts',
  'test/events/all-of-many.test.ts',
  'test/http/answer-memory.test.ts',
  'test/indexer/{heavy-blocks,hot-tokens,lagging-lists,model,unanswered-calls}.test.ts',
  'test/minting/{signer-unavailable,turns}.test.ts',
  'test/rwa/ownership/model.test.ts',
  'test/news/kills.test.ts',
] as const;

/** Files of another kind, which have commands of their own: `npm run test:portal`, and `npm run faults` with FAULTS=all. */
export const otherTests: readonly string[] = [
  '**/node_modules/**',
  'test/portal/site/**',
  ...(process.env['FAULTS'] === 'all' ? [] : ['test/minting/faults/**']),
];
