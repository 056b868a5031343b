import type { BlockId, HeadBlock } from '../transport/node-look.ts';
import { hashAt, type Member } from './node-member.ts';

/** A node that can be used, as far as agreement is concerned. */
export type Witness = {
  readonly member: Member;
  readonly head: HeadBlock;
  /** The newest block that this node takes for final; -1n for none yet, undefined when it cannot say. */
  readonly finalized: bigint | undefined;
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
export type Dispute = {
  readonly number: bigint;
  readonly sides: readonly { readonly member: Member; readonly hash: string }[];
};

/**
 * Compares the nodes at the newest block that the shortest of their chains counts as confirmed.
 * @returns undefined when they do not differ
 */
export async function findDispute(
  witnesses: readonly Witness[],
  confirmations: number,
): Promise<Dispute | undefined> {
  if (witnesses.length < 2) return undefined;
  const shortest = witnesses.map(({ head }) => head.number).reduce(lesser);
  const number = shortest - BigInt(confirmations) + 1n;
  if (number < 0n) return undefined;
  const sides = await hashesAt(witnesses, number);
  return new Set(sides.map(({ hash }) => hash)).size < 2 ? undefined : { number, sides };
}

/** A dispute for people, with block and nodes. */
export function disputeInWords({ number, sides }: Dispute): string {
  const all = [...groupByHash(sides)].map(([hash, labels]) => `${hash} at ${labels.join(', ')}`);
  return `Nodes disagree on block ${number}: ${all.join('; ')}.`;
}

const lesser = (one: bigint, other: bigint) => (one < other ? one : other);

/** The hashes of a block at the nodes that show it. */
async function hashesAt(witnesses: readonly Witness[], number: bigint): Promise<Dispute['sides']> {
  const shown = await Promise.all(
    witnesses.map(async ({ member }) => ({ member, hash: await hashAt(member, number) })),
  );
  return shown.flatMap(({ member, hash }) => (hash === undefined ? [] : [{ member, hash }]));
}

function groupByHash(sides: Dispute['sides']): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { member, hash } of sides) {
    groups.set(hash, [...(groups.get(hash) ?? []), member.endpoint.label]);
  }
  return groups;
}
