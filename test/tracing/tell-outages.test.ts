import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, test, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { tellOutages } from '../../src/tracing/tell-outages.ts';

test('an outage of the collector is logged once, and so is its end', () => {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => lines.push(JSON.parse(line).msg) },
  });
  const ends: ((result: ExportResult) => void)[] = [];
  const open = { export: (_spans: unknown, end: (result: ExportResult) => void) => void ends.push(end) };
  const exporter = tellOutages({ ...open, shutdown: async () => {} }, log);
  const done = vi.fn();
  for (const code of [ExportResultCode.FAILED, ExportResultCode.FAILED, ExportResultCode.SUCCESS]) {
    exporter.export([{} as ReadableSpan], done);
    ends.pop()?.({ code });
  }
  expect(done.mock.calls).toEqual([1, 2, 3].map(() => [{ code: ExportResultCode.SUCCESS }]));
  expect(lines).toEqual([
    'the collector takes no traces, so they are dropped',
    'the collector of traces takes them again',
  ]);
});
