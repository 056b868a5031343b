import { z } from 'zod';
import { httpUrl } from './setting-forms.ts';

export const samplers = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

/** `name=value` separated by commas, both percent-encoded, as OpenTelemetry writes lists. */
const pairs = z.string().transform((text, context) => {
  const found: Record<string, string> = {};
  for (const item of text.split(',')) {
    const [, name, value] = /^\s*([\w.!#$&'*+^`|~-]+)=(.*?)\s*$/.exec(item) ?? [];
    if (name === undefined || value === undefined || !/^(?:[^%]|%[\da-fA-F]{2})*$/.test(value)) {
      context.addIssue('must be name=value, separated by commas, with reserved characters as %2C');
      return z.NEVER;
    }
    found[name] = decodeURIComponent(value);
  }
  return found;
});

/** Settings of traces, with the names that OpenTelemetry gives them. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: httpUrl
      .refine((url) => new URL(url).username === '', 'must have no user: use OTEL_EXPORTER_OTLP_HEADERS')
      .optional(),
    about:
      'OpenTelemetry collector for traces, with OTLP over HTTP (protobuf), at its `/v1/traces`. Without it there are no traces.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: pairs.optional(),
    about: 'Headers for the collector, `name=value` separated by commas, such as its credential.',
    secret: true,
  },
  OTEL_TRACES_SAMPLER: {
    schema: z.enum(samplers).default('parentbased_always_on'),
    about:
      'Which traces are kept: all, none, or a share. With `parentbased_` a caller who traces decides about its own requests.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be from 0 to 1')
      .transform(Number)
      .default(1),
    about: 'Share of traces that `traceidratio` and `parentbased_traceidratio` keep, from 0 to 1.',
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    schema: pairs.optional(),
    about:
      'Attributes of this process in traces, `name=value` separated by commas. `service.name` is `tallystick` by default.',
  },
} as const;
