import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { type CutExporter, tellOutages } from '../../src/tracing/tell-outages.ts';

test('an export that never ends is given up, and its exporter, and it is told once', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => lines.push(JSON.parse(line).msg) },
  });
  const opened: { left: boolean; isCut: boolean; ends: ((result: ExportResult) => void)[] }[] = [];
  const open = (): CutExporter => {
    const exporter = { left: false, isCut: false, ends: [] as ((result: ExportResult) => void)[] };
    opened.push(exporter);
    return {
      export: (_spans, end) => void exporter.ends.push(end),
      async shutdown() {
        exporter.left = true;
      },
      cut() {
        exporter.isCut = true;
      },
    };
  };
  const exporter = tellOutages(open, { timeoutMs: 1_000, log });
  const done = vi.fn();
  const spans = [{} as ReadableSpan];
  for (let count = 0; count < 4; count += 1) exporter.export(spans, done);
  vi.advanceTimersByTime(999);
  expect(done).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(done).toHaveBeenCalledTimes(4);
  expect(opened.map(({ left, isCut }) => [left, isCut])).toEqual([
    [true, true],
    [false, false],
  ]);
  // What ends after all has been told.
  opened[0]?.ends[0]?.({ code: ExportResultCode.SUCCESS });
  exporter.export(spans, done);
  opened[1]?.ends[0]?.({ code: ExportResultCode.SUCCESS });
  expect(done).toHaveBeenCalledTimes(5);
  expect(vi.getTimerCount()).toBe(0);
  expect(lines).toEqual([
    'the collector takes no traces, so they are dropped',
    'the collector of traces takes them again',
  ]);
});
