/** What a span says, by the names of OpenTelemetry's conventions. An undefined value is left out. */
type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanOptions = {
  /** Of few values: an operation, a statement's first word, a method. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  /** Never a secret, and nothing that a caller chose. */
  readonly facts?: SpanFacts;
  /** When the work began, in milliseconds since 1970; now by default. */
  readonly startedAt?: number | undefined;
};

/** A piece of work in a trace. */
export type Span = {
  /** 32 hex digits, as log lines name the trace. */
  readonly traceId: string;
  /** The header for a callee that goes on with the trace, by W3C Trace Context. */
  readonly traceparent: string;
  /** False where the trace was not chosen to be kept; then nothing of it costs anything. */
  readonly isRecorded: boolean;
  /** Begins a span within this span. */
  begin(options: SpanOptions): Span;
  /** Names a span of another trace that belongs to this span. */
  link(traceparent: string): void;
  rename(name: string): void;
  tell(facts: SpanFacts): void;
  /** @param error why the work failed: only its code or name is recorded, since its words may have a secret */
  end(error?: unknown): void;
};

export type Tracing = {
  /**
   * Begins a piece of work.
   * @param causes each a `traceparent`. Of one, the work is a part; of several it stands by itself, and names them
   */
  begin(options: SpanOptions, causes?: readonly string[]): Span;
  /** Sends what is there, for at most {@link stopMs}. Never rejects. */
  stop(): Promise<void>;
};

/** How long a stop waits for the collector, in milliseconds. */
export const stopMs = 3_000;
