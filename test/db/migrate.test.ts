import { readdir } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { down } from '../../src/db/schema/forward-only.ts';
import { inspectDatabase } from '../../src/db/schema/inspect.ts';
import { migrateToLatest } from '../../src/db/schema/migrate.ts';
import { test } from '../support/fixtures.ts';

describe('migrations', () => {
  test('bring an empty database up and change nothing when run again', async ({ db }) => {
    expect(await inspectDatabase(db)).toMatchObject({ supported: true, pending: [], unknown: [] });
    expect(await migrateToLatest(db)).toEqual([]);
  });

  test('that commit in parts can be run again where they were cut off', async ({ db }) => {
    const folder = new URL('../../migrations/', import.meta.url);
    const inParts: string[] = [];
    for (const name of (await readdir(folder)).sort()) {
      const migration = await import(new URL(name, folder).href);
      if (migration.config?.transaction !== false) continue;
      inParts.push(name);
      await migration.up(db);
    }
    expect(inParts.length).toBeGreaterThan(0);
    const invalid = await db.raw('SELECT indexrelid::regclass AS name FROM pg_index WHERE NOT indisvalid');
    expect(invalid.rows).toEqual([]);
  });

  test('reject every way back, in the words of the one helper', async ({ db }) => {
    const folder = new URL('../../migrations/', import.meta.url);
    const words = await down().catch((error: unknown) => error);
    expect(words).toBeInstanceOf(Error);
    for (const name of await readdir(folder)) {
      const migration = await import(new URL(name, folder).href);
      expect([name, await migration.down(db).catch((error: unknown) => error)]).toEqual([name, words]);
    }
  });

  // An index that starts with what names one row there leads to the same rows: those of an RWA by its id alone.
  test('give every foreign key an index that starts with its columns, or with one that is unique there', async ({
    db,
  }) => {
    const { rows } = await db.raw(`
      SELECT c.conrelid::regclass AS table, c.conname AS name
      FROM pg_constraint c
      WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND NOT EXISTS (
        SELECT FROM pg_index i
        WHERE i.indrelid = c.conrelid AND i.indpred IS NULL
          AND (SELECT array_agg(key ORDER BY key) FROM unnest((i.indkey::int2[])[0:cardinality(c.conkey) - 1]) key)
            = (SELECT array_agg(key ORDER BY key) FROM unnest(c.conkey) key))
      AND NOT EXISTS (
        SELECT FROM pg_index i JOIN pg_index there ON there.indrelid = c.confrelid
        WHERE i.indrelid = c.conrelid AND i.indpred IS NULL
          AND there.indisunique AND there.indpred IS NULL AND there.indnkeyatts = 1
          AND there.indkey[0] = c.confkey[array_position(c.conkey, i.indkey[0])])`);
    expect(rows).toEqual([]);
  });
});
