import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../base/log.ts';

/**
 * Returns the exporter, which logs once that the collector takes nothing, and once that it does again, however many
 * exports lie between.
 */
export function tellOutages(exporter: SpanExporter, log: Logger): SpanExporter {
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
      exporter.export(spans, (result) => {
        tell(result, spans.length);
        // The processor would report it too, in its own ways.
        done({ code: ExportResultCode.SUCCESS });
      });
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
