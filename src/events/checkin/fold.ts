/** An entry or exit as it is kept. */
export type Passage = {
  /** UUID in lower case. */
  readonly scanId: string;
  readonly kind: 'entry' | 'exit';
  readonly at: Date;
  readonly gate: string | null;
  /** The verdict of `recheckAtCheckin`; null where nobody asked for it. */
  readonly isEligible: boolean | null;
  readonly isUndone: boolean;
};

export type PassageStatus =
  | 'admitted'
  | 'already_admitted'
  | 'exited'
  | 'not_inside'
  | 'undone'
  | 'no_longer_eligible';

/** What all passages of a registration come to. */
export type Presence = {
  readonly statuses: ReadonlyMap<string, PassageStatus>;
  /** The earliest valid entry. */
  readonly firstEntry: Passage | undefined;
  readonly isInside: boolean;
};

/**
 * Folds the passages of a registration, in the order of their time and then of their id. So the same passages come to the same in
 * any order of arrival. `scan-sql.ts` says the same in SQL.
 */
export function foldPassages(passages: readonly Passage[]): Presence {
  const statuses = new Map<string, PassageStatus>();
  let firstEntry: Passage | undefined;
  let isInside = false;
  for (const passage of passages.toSorted(byTime)) {
    const status = statusOf(passage, isInside);
    statuses.set(passage.scanId, status);
    if (status === 'admitted') firstEntry ??= passage;
    if (status === 'admitted' || status === 'exited') isInside = !isInside;
  }
  return { statuses, firstEntry, isInside };
}

function statusOf({ kind, isEligible, isUndone }: Passage, isInside: boolean): PassageStatus {
  if (isUndone) return 'undone';
  if (isEligible === false) return 'no_longer_eligible';
  if (kind === 'entry') return isInside ? 'already_admitted' : 'admitted';
  return isInside ? 'exited' : 'not_inside';
}

// PostgreSQL sorts UUIDs in the same way.
const byTime = (one: Passage, other: Passage): number =>
  one.at.getTime() - other.at.getTime() || (one.scanId < other.scanId ? -1 : 1);
