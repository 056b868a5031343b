import { globSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { assertNoTransaction } from '../../src/base/open-transaction.ts';
import { inTransaction } from '../../src/db/connection/transaction.ts';
import { test } from '../support/fixtures.ts';

test('a transaction knows that it is open, and what follows knows that it has ended', async ({ db }) => {
  const inside = inTransaction(db, async (tx) => {
    await tx.raw('SELECT 1');
    assertNoTransaction('a node');
  });
  await expect(inside).rejects.toThrow('a node is asked inside a transaction');
  expect(() => assertNoTransaction('a node')).not.toThrow();
});

test('every transaction of the service begins where this is known', () => {
  const beginning = /(?<!\bnode)\.transaction\(|['"`]BEGIN\b(?!:)/;
  const files = globSync('src/**/*.ts').filter((file) => beginning.test(readFileSync(file, 'utf8')));
  // A migration holds its lock in one of its own, and runs in no role.
  expect(files.sort()).toEqual(['src/db/connection/transaction.ts', 'src/db/schema/migrate.ts']);
});
