import pg from 'pg';
import { afterAll, vi } from 'vitest';

/**
 * Notes what this process sends to PostgreSQL on connections that open from now on, by whatever library, until the tests of
 * the file are over.
 * @returns a function that gives the texts of the statements that the work sends, in their order
 */
export function noteStatements(): (work: () => PromiseLike<unknown>) => Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  afterAll(() => query.mockRestore());
  return async (work) => {
    query.mockClear();
    await work();
    const asked: unknown[] = query.mock.calls.map(([statement]) => statement);
    const texts = asked.map((each) => (typeof each === 'string' ? each : String(Object(each).text)));
    // The pulse of who listens.
    return texts.filter((text) => text !== 'SELECT 1');
  };
}
