/**
 * The files of `npm run test:processes`: they start the service, its workers or its commands as processes, servers of
 * their own, or kill them, and most of their time is starts and stops. `npm test` runs what is
 * in none of these groups.
 */
export const processTests = [
  'test/service/**/*.test.ts',
  'test/local/**/*.test.ts',
  'test/cli/{bin,contract,doctor-replica,index,init,mcp}.test.ts',
  'test/indexer/kill.test.ts',
  'test/minting/{killed-worker,metadata-reports}.test.ts',
  'test/monitoring/live-*.test.ts',
] as const;

/**
 * The files of `npm run test:slow`: each takes more than eight seconds on two idle cores. They make many rows, run many
 * cases on a chain, or wait until something has been silent for long enough.
 */
export const slowTests = [
  'test/cli/{audit,doctor,rwa-export,rwa-import}.test.ts',
  'test/contract/lint-rules.test.ts',
  'test/db/silence.test.ts',
  'test/events/{admission-race,all-of-many}.test.ts',
  'test/events/checkin/scan-orders.test.ts',
  'test/http/{answer-memory,connections}.test.ts',
  'test/indexer/{forgery,heavy-blocks,hot-tokens,lagging-lists,model,odd-chains,odd-nodes,plans,recorded-index,search,several-nodes,standstill,unanswered-calls}.test.ts',
  'test/keys/remote-better-auth.test.ts',
  'test/minting/{operators,signer-unavailable,turns}.test.ts',
  'test/minting/lives/contract.test.ts',
  'test/news/{deliver,kills,receivers}.test.ts',
  'test/portal/portal.test.ts',
  'test/rwa/ownership/model.test.ts',
] as const;

/** Files of another kind, which have commands of their own: `npm run test:portal`, and `npm run faults` with FAULTS=all. */
export const otherTests: readonly string[] = [
  '**/node_modules/**',
  'test/portal/site/**',
  ...(process.env['FAULTS'] === 'all' ? [] : ['test/minting/faults/**']),
];
