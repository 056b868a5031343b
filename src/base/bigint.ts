/** The smaller of two whole numbers. */
export const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** The larger of two whole numbers. */
export const greatest = (one: bigint, other: bigint): bigint => (one > other ? one : other);
