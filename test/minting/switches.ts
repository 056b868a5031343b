/**
 * Parts of minting on which an ingredient of random sequences, or a demand on their outcome, relies. What relies on a
 * part that is not ready is left out of sequences, and only noted in their report.
 */
const ready = {
  /** Several nodes with one judgement; a node that is wrong is left. */
  pool: true,
  /** Evidence that is not to be had holds up one NFT only. */
  evidence: true,
  /** Fees rise only when the market asks for more; refused broadcasts are known. */
  fees: true,
  /** Whatever stands still has a reason. */
  reasons: true,
  /** Few questions, however much is under way. */
  questions: true,
  /** A restored database is brought up to the chain. */
  recover: true,
} as const satisfies Record<string, boolean>;

export type Part = keyof typeof ready;

const parts = Object.keys(ready) as Part[]; // its own keys
const wanted = (process.env['FAULT_WITH'] ?? '').split(',');

/** The parts that are taken to be ready; FAULT_WITH names more, or `all` that there are. */
const readyParts: readonly Part[] = parts.filter(
  (part) => ready[part] || wanted.includes(part) || wanted.includes('all'),
);

export const isReady = (needed: readonly Part[]): boolean =>
  needed.every((part) => readyParts.includes(part));
