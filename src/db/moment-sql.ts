/** A moment in SQL, of its microseconds since 1970. */
export const momentOf = (micros: string): string =>
  `timestamptz 'epoch' + ${micros} * interval '1 microsecond'`;

/** The same; its binding is its microseconds. */
export const momentSql = momentOf('?::bigint');

/** The microseconds since 1970 of a column of moments, in SQL. */
export const microsSql = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint`;
