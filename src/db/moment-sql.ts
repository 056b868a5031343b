/** A moment in SQL, of its microseconds. */
export const momentOf = (micros: string): string =>
  `timestamptz 'epoch' + ${micros} * interval '1 microsecond'`;
