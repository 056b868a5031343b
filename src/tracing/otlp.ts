import type { Span as RecordedSpan, Tracer } from '@opentelemetry/api';
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import packageFile from '../../package.json' with { type: 'json' };
import type { Logger } from '../base/log.ts';
import { type Span, type SpanOptions, stopMs, type Tracing } from '../base/span.ts';
import type { samplers } from '../config/config.ts';
import { tellOutages } from './tell-outages.ts';

type TracingOptions = {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of one export. */
  readonly timeoutMs: number;
  readonly sampler: (typeof samplers)[number];
  /** Of the traces that are kept, where the sampler keeps a share. */
  readonly share: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly log: Logger;
};

// A span beyond the limit waits for nobody: it is dropped. A span has some 2 kB.
const longestQueue = 4_096;
const mostLinks = 32;

/** Traces by the SDK of OpenTelemetry: spans wait in a bounded queue, and go to the collector by themselves. */
export function startTracing(options: TracingOptions): Tracing {
  const { endpoint, headers, timeoutMs, log } = options;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    concurrencyLimit: 4,
  });
  const batches = new BatchSpanProcessor({
    exporter: tellOutages(exporter, log),
    maxQueueSize: longestQueue,
    maxExportBatchSize: 512,
    scheduledDelayMillis: 1_000,
    // The exporter ends by itself; this is for one that does not.
    exportTimeoutMillis: timeoutMs + 1_000,
  });
  const provider = new TracerProvider({
    sampler: samplerOf(options),
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': packageFile.version,
        'service.name': 'tallystick',
        ...options.attributes,
      }),
    ),
    spanLimits: { attributeValueLengthLimit: 1_000, linkCountLimit: mostLinks },
    spanProcessors: [batches],
  });
  const tracer = provider.getTracer('tallystick', packageFile.version);
  return {
    begin: (described, causes = []) => beginCaused(tracer, described, causes),
    async stop() {
      const late = new Promise((resolve) => setTimeout(resolve, stopMs).unref());
      // Where it is sent, the log names what the collector did not accept.
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

function samplerOf({ sampler, share }: TracingOptions): Sampler {
  const [, prefix, name] = /^(parentbased_)?(.*)$/.exec(sampler) ?? [];
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  };
  const root = roots[name ?? '']?.() ?? new AlwaysOnSampler();
  return prefix === undefined ? root : new ParentBasedSampler({ root });
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Of causes that are kept in no trace, nothing is kept of the work either. */
function beginCaused(tracer: Tracer, options: SpanOptions, causes: readonly string[]): Span {
  const known = [...new Set(causes)].flatMap((cause) => parseTraceParent(cause) ?? []);
  const kept = known.filter(isSampled);
  const [cause = known[0], ...more] = kept;
  if (cause === undefined || more.length > 0) return begin(tracer, options, ROOT_CONTEXT, kept);
  return begin(tracer, options, trace.setSpanContext(ROOT_CONTEXT, { ...cause, isRemote: true }), []);
}

function begin(
  tracer: Tracer,
  { name, kind, facts, startedAt }: SpanOptions,
  within: Context,
  causes: readonly SpanContext[],
) {
  const links: Link[] = causes.slice(0, mostLinks).map((context) => ({ context }));
  const startTime = startedAt === undefined ? {} : { startTime: startedAt };
  const described = { kind: kinds[kind], links, ...startTime, ...(facts && { attributes: { ...facts } }) };
  return wrap(tracer, tracer.startSpan(name, described, within), within);
}

function wrap(tracer: Tracer, span: RecordedSpan, within: Context): Span {
  const context = span.spanContext();
  const { traceId, spanId } = context;
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-${isSampled(context) ? '01' : '00'}`,
    isRecorded: span.isRecording(),
    begin: (options) => begin(tracer, options, trace.setSpan(within, span), []),
    link(traceparent) {
      const other = parseTraceParent(traceparent);
      if (other !== null) span.addLink({ context: other });
    },
    rename: (name) => void span.updateName(name),
    tell: (facts) => void span.setAttributes(facts),
    end(error) {
      if (error !== undefined) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', typeOf(error));
      }
      span.end();
    },
  };
}

const isSampled = ({ traceFlags }: SpanContext) => (traceFlags & 1) === 1;

/** A short word: the error's code, or its class. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  const word = 'code' in error ? String(error.code) : error.name;
  return /^[\w.:-]{1,64}$/.test(word) ? word : 'error';
}
