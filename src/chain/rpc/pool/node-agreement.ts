import type { BlockId, HeadBlock } from '../transport/node-look.ts';

/** A node that can be used, as far as agreement is concerned. */
export type Witness = {
  readonly label: string;
  readonly head: HeadBlock;
  /** The newest block that this node takes for final; -1n for none yet, undefined when it cannot say. */
  readonly finalized: bigint | undefined;
  /** The hash of the block with this number on the node's chain; undefined when the node does not show it. */
  hashAt(number: bigint): Promise<string | undefined>;
};

export type FinalityVote = {
  /** The newest block that enough nodes take for final, with the same hash; undefined when there is none yet. */
  readonly block: BlockId | undefined;
  /** Why enough nodes do not agree; undefined when they do. */
  readonly unknown: string | undefined;
};

/**
 * Finds the newest block that enough nodes agree to be final: the number is the highest that so many of them have
 * reached, and so many must have the same block there.
 * @param needed how many nodes must agree
 */
export async function agreeOnFinality(witnesses: readonly Witness[], needed: number): Promise<FinalityVote> {
  const votes = witnesses.flatMap(({ finalized, head }) =>
    finalized === undefined || finalized > head.number ? [] : [finalized],
  );
  const number = votes.toSorted((one, other) => (one < other ? 1 : -1))[needed - 1];
  if (number === undefined) {
    const unknown = `${needed} node(s) must agree on what is final (RPC_FINALITY_NODES), and only ${votes.length} can say.`;
    return { block: undefined, unknown };
  }
  if (number < 0n) return { block: undefined, unknown: undefined };
  const reached = witnesses.filter(({ finalized }) => finalized !== undefined && finalized >= number);
  const groups = groupByHash(await hashesAt(reached, number));
  const agreed = [...groups].filter(([, labels]) => labels.length >= needed);
  const [only] = agreed;
  if (only !== undefined && agreed.length === 1) {
    return { block: { number, hash: only[0] }, unknown: undefined };
  }
  return { block: undefined, unknown: `No ${needed} node(s) have the same final block ${number}.` };
}

/** Two or more nodes that have different blocks at one height. */
export type Dispute<W extends Witness> = {
  readonly number: bigint;
  readonly sides: readonly { readonly witness: W; readonly hash: string }[];
};

/**
 * Compares the nodes at the newest block that the shortest of their chains counts as confirmed.
 * @returns undefined when they do not differ
 */
export async function findDispute<W extends Witness>(
  witnesses: readonly W[],
  confirmations: number,
): Promise<Dispute<W> | undefined> {
  if (witnesses.length < 2) return undefined;
  const shortest = witnesses.map(({ head }) => head.number).reduce(lesser);
  const number = shortest - BigInt(confirmations) + 1n;
  if (number < 0n) return undefined;
  const sides = await hashesAt(witnesses, number);
  return new Set(sides.map(({ hash }) => hash)).size < 2 ? undefined : { number, sides };
}

/** A dispute for people, with block and nodes. */
export function disputeInWords<W extends Witness>({ number, sides }: Dispute<W>): string {
  const all = [...groupByHash(sides)].map(([hash, labels]) => `${hash} at ${labels.join(', ')}`);
  return `Nodes disagree on block ${number}: ${all.join('; ')}.`;
}

const lesser = (one: bigint, other: bigint) => (one < other ? one : other);

/** The hashes of a block at the nodes that show it. */
async function hashesAt<W extends Witness>(witnesses: readonly W[], number: bigint) {
  const shown = await Promise.all(
    witnesses.map(async (witness) => ({ witness, hash: await witness.hashAt(number) })),
  );
  return shown.flatMap(({ witness, hash }) => (hash === undefined ? [] : [{ witness, hash }]));
}

function groupByHash<W extends Witness>(sides: Dispute<W>['sides']): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { witness, hash } of sides) groups.set(hash, [...(groups.get(hash) ?? []), witness.label]);
  return groups;
}
