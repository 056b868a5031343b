import type { Logger } from '../base/log.ts';
import type { Tracing } from '../base/span.ts';
import type { Config } from '../config/config.ts';

// A collector is near, and spans that it does not take in time are not worth keeping requests' memory for.
const exportMs = 3_000;

/** Opens traces where the settings name a collector. Without one nothing of OpenTelemetry's SDK is loaded. */
export async function openTracing(config: Config, log: Logger): Promise<Tracing | undefined> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./otlp.ts');
  return startTracing({
    endpoint,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    timeoutMs: exportMs,
    sampler: config.OTEL_TRACES_SAMPLER,
    share: config.OTEL_TRACES_SAMPLER_ARG,
    attributes: { ...config.OTEL_RESOURCE_ATTRIBUTES, 'tallystick.roles': config.ROLES.join() },
    log,
  });
}
