import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../base/log.ts';

/** An exporter whose connections can be cut, with what is under way on them. */
export type CutExporter = SpanExporter & { cut(): void };

type OutageOptions = {
  /** Of one export, by which it has to have ended by itself. */
  readonly timeoutMs: number;
  readonly log: Logger;
};

/**
 * Says once that the collector takes nothing, and once that it does again, however many exports lie between.
 * @param open makes an exporter: where an export never ends, as when the collector switches protocols or sends a byte now and then,
 *   it would keep its place among those at once for good
 */
export function tellOutages(open: () => CutExporter, { timeoutMs, log }: OutageOptions): SpanExporter {
  let exporter = open();
  let dropped = 0;
  const tell = ({ code, error }: ExportResult, spans: number) => {
    if (code === ExportResultCode.SUCCESS) {
      if (dropped > 0) log.info({ dropped }, 'the collector of traces takes them again');
      dropped = 0;
      return;
    }
    if (dropped === 0)
      log.warn({ reason: reasonOf(error) }, 'the collector takes no traces, so they are dropped');
    dropped += spans;
  };
  return {
    export(spans, done) {
      const used = exporter;
      let isOver = false;
      const end = (result: ExportResult) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(late);
        tell(result, spans.length);
        // The processor would report it too, in its own ways.
        done({ code: ExportResultCode.SUCCESS });
      };
      const late = setTimeout(() => {
        if (exporter === used) {
          exporter = open();
          used.cut();
          used.shutdown().catch(() => {});
        }
        end({ code: ExportResultCode.FAILED, error: new DOMException('no end', 'TimeoutError') });
      }, timeoutMs).unref();
      used.export(spans, end);
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** What happened; never what the collector said, which may be our own headers. */
function reasonOf(error: Error | undefined): string {
  if (error === undefined) return 'unknown';
  const code = 'code' in error ? String(error.code) : '';
  return code === '' || code === 'undefined' ? error.name : code;
}
