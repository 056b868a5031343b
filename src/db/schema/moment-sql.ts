/** A moment in SQL; its binding is its microseconds since 1970. */
export const momentSql = `timestamptz 'epoch' + ?::bigint * interval '1 microsecond'`;

/** The microseconds since 1970 of a column of moments, in SQL. */
export const microsSql = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint`;
