import { describe, expect } from 'vitest';
import {
  recordIndexError,
  recordStandstill,
} from '../../src/providers/indexer/store/write/index-state-store.ts';
import { insertIndexHead } from '../support/index-head.ts';
import { runDoctor } from './command-line.ts';
import { test } from './fixtures.ts';

const chainId = '31337';

test.beforeAll(async ({ db }) => {
  await insertIndexHead(db);
});

describe('doctor, on an index', () => {
  test('says nothing while it goes on, and knows no cluster on a single server', async ({ settings }) => {
    const { status, of } = await runDoctor(settings);
    expect(of(`index ${chainId}`)).toEqual([]);
    expect(of('cluster')).toEqual([]);
    expect(status).toBe(0);
  });

  test('warns while it fails, with the error and its time, until a step succeeds', async ({
    settings,
    db,
  }) => {
    const before = new Date();
    await recordIndexError(db, chainId, 'an earlier error');
    await recordIndexError(db, chainId, 'the node answers nonsense\0');
    const { status, of } = await runDoctor(settings);
    const [found, ...others] = of(`index ${chainId}`);
    expect(others).toEqual([]);
    expect(found?.state).toBe('warning');
    const [, at = '', message] =
      /^failing since the last try at (\S+): (.*)$/.exec(found?.detail ?? '') ?? [];
    expect(message).toMatch(/^the node answers nonsense/);
    expect(new Date(at).getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(status).toBe(0);

    await recordIndexError(db, chainId, undefined);
    expect((await runDoctor(settings)).of(`index ${chainId}`)).toEqual([]);
  });

  test('finds a fault while it is stuck, and names the reason rather than the last error', async ({
    settings,
    db,
  }) => {
    await recordIndexError(db, chainId, 'the last error');
    await recordStandstill(db, chainId, { block: 7n, reason: 'block 7 cannot be read' });
    const { status, of } = await runDoctor(settings);
    expect(of(`index ${chainId}`)).toEqual([
      { check: `index ${chainId}`, state: 'FAULT', detail: 'stuck: block 7 cannot be read' },
    ]);
    expect(status).toBe(1);
  });

  test('is heard of by the users of the roles that may read it alone', async ({ settings, db }) => {
    await recordStandstill(db, chainId, undefined);
    const DATABASE_URL = asApi(settings['DATABASE_URL'] ?? '');
    expect((await runDoctor({ ...settings, DATABASE_URL })).of(`index ${chainId}`)).toMatchObject([
      { state: 'warning', detail: expect.stringContaining('the last error') },
    ]);
  });
});

const asApi = (url: string) => url.replace('test_operator', 'test_api');
