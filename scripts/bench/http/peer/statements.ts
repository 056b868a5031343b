import type pg from 'pg';

/** Runs a statement that each connection parses and plans once. */
export type Ask = <Row extends pg.QueryResultRow>(
  name: string,
  text: string,
  values: unknown[],
) => Promise<Row[]>;

export const createStatements =
  (pool: pg.Pool): Ask =>
  async <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) =>
    (await pool.query<Row>({ name, text, values })).rows;
