import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** The rows of the table of categories, each as its category, condition and example. */
async function rowsOf(path: string): Promise<string[][]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const start = lines.findIndex((line) => /^\| (# \| )?Category \|/.test(line));
  const rows = lines.slice(start + 2, lines.indexOf('', start));
  return rows.map((row) =>
    row
      .replace(/^\| | \|$/g, '')
      .split(' | ')
      .slice(-3),
  );
}

test("the portal's guide has the table of categories that the index's own page has", async () => {
  const own = await rowsOf('src/providers/indexer/README.md');
  expect(own).toHaveLength(20);
  expect(await rowsOf('openapi/portal/guides/history.md')).toEqual(own);
});
