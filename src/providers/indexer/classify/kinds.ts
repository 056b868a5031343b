import { type HistoryFilter, type HistoryRecord, historyCategories } from '../../shared/provider.ts';

type Category = HistoryRecord['category'];

/** In which directions something was transferred: the sum of both bits, or 0. */
export const directionBits = { send: 1, receive: 2 } as const;
const spamBit = 4;
const categoryUnit = 8;

/** What of a record has few values, as one number. */
export type Kind = {
  readonly category: Category;
  readonly isSpam: boolean;
  /** A sum of {@link directionBits}. */
  readonly directions: number;
};

export function kindNumber({ category, isSpam, directions }: Kind): number {
  return historyCategories.indexOf(category) * categoryUnit + (isSpam ? spamBit : 0) + directions;
}

/** The number with other directions. */
export function withDirections(kind: number, directions: number): number {
  return (kind & ~(directionBits.send | directionBits.receive)) | directions;
}

/** Every kind that the filter selects; undefined when it selects all. */
export function kindsOf({ category, direction, includeSpam }: HistoryFilter): readonly number[] | undefined {
  if (category === undefined && direction === undefined && includeSpam === undefined) return undefined;
  const bit = direction === undefined ? 0 : directionBits[direction];
  const directions = [0, 1, 2, 3].filter((each) => (each & bit) === bit);
  const spam = includeSpam === false ? [false] : [false, true];
  return numbersOf(category ?? historyCategories, spam, directions);
}

export const allKinds: readonly number[] = numbersOf(historyCategories, [false, true], [0, 1, 2, 3]);

/** The kinds that are not spam, the likeliest first. */
export const cleanKinds: readonly number[] = numbersOf(historyCategories, [false], [2, 1, 3, 0]);

function numbersOf(
  selected: readonly Category[],
  spam: readonly boolean[],
  directions: readonly number[],
): number[] {
  return selected.flatMap((category) =>
    spam.flatMap((isSpam) => directions.map((each) => kindNumber({ category, isSpam, directions: each }))),
  );
}
