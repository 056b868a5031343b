import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

test('each figure of the README is the one that docs/performance.md has', async () => {
  const readme = await readFile('README.md', 'utf8');
  const shown = [...readme.matchAll(/^\| `(\w+)`: [^|]*\| ([\d.]+) \|/gm)];
  expect(shown).toHaveLength(7);
  const measured = await readFile('docs/performance.md', 'utf8');
  for (const [, figure = '', value] of shown) {
    const [, found] = new RegExp(`\\| ${figure} \\| ([\\d.]+) \\|`).exec(measured) ?? [];
    expect([figure, value]).toEqual([figure, found]);
  }
});
