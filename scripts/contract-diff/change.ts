export type Severity = 'breaking' | 'risky' | 'safe';

/**
 * Every class of difference. `input` is what callers send, `output` what they are answered.
 * - breaking: a caller or SDK that was right before may fail
 * - risky: it goes on working unless it relied on more than the contract promised, or names change in SDKs
 * - safe: nobody notices who does not want to
 */
export const severities = {
  'server-removed': 'breaking',
  'path-removed': 'breaking',
  'operation-removed': 'breaking',
  'operation-id-changed': 'breaking',
  'security-added': 'breaking',
  'security-scheme-changed': 'breaking',
  'parameter-removed': 'breaking',
  'required-parameter-added': 'breaking',
  'parameter-became-required': 'breaking',
  'parameter-form-changed': 'breaking',
  'body-removed': 'breaking',
  'required-body-added': 'breaking',
  'body-became-required': 'breaking',
  'status-removed': 'breaking',
  'header-removed': 'breaking',
  'header-became-optional': 'breaking',
  'input-media-type-removed': 'breaking',
  'input-property-removed': 'breaking',
  'input-property-became-required': 'breaking',
  'input-property-became-read-only': 'breaking',
  'input-type-narrowed': 'breaking',
  'input-null-refused': 'breaking',
  'input-enum-narrowed': 'breaking',
  'input-limit-narrowed': 'breaking',
  'input-closed': 'breaking',
  'input-alternative-removed': 'breaking',
  'output-media-type-removed': 'breaking',
  'output-property-removed': 'breaking',
  'output-property-became-optional': 'breaking',
  'output-type-widened': 'breaking',
  'output-null-added': 'breaking',
  'output-enum-widened': 'breaking',
  'output-alternative-added': 'breaking',

  'path-parameter-renamed': 'risky',
  'tag-changed': 'risky',
  'status-added': 'risky',
  'component-renamed': 'risky',
  'input-default-changed': 'risky',
  'output-limit-widened': 'risky',
  'output-opened': 'risky',
  'word-changed': 'risky',

  'server-added': 'safe',
  'path-added': 'safe',
  'operation-added': 'safe',
  'operation-deprecated': 'safe',
  'security-widened': 'safe',
  'optional-parameter-added': 'safe',
  'parameter-became-optional': 'safe',
  'optional-body-added': 'safe',
  'body-became-optional': 'safe',
  'header-added': 'safe',
  'header-became-required': 'safe',
  'input-media-type-added': 'safe',
  'input-property-added': 'safe',
  'input-property-became-optional': 'safe',
  'input-type-widened': 'safe',
  'input-null-accepted': 'safe',
  'input-enum-widened': 'safe',
  'input-limit-widened': 'safe',
  'input-opened': 'safe',
  'input-alternative-added': 'safe',
  'output-media-type-added': 'safe',
  'output-property-added': 'safe',
  'output-property-became-required': 'safe',
  'output-type-narrowed': 'safe',
  'output-null-removed': 'safe',
  'output-enum-narrowed': 'safe',
  'output-limit-narrowed': 'safe',
  'output-closed': 'safe',
  'output-alternative-removed': 'safe',
  'text-changed': 'safe',
} as const satisfies Record<string, Severity>;

export type ChangeClass = keyof typeof severities;

export type Change = {
  readonly class: ChangeClass;
  readonly severity: Severity;
  /** What changed: `GET /event`, or a component such as `schemas/Event` once for all who use it. */
  readonly subject: string;
  /** Where in it: `query limit`, `200 application/json /history/cursor`; empty for all of it. */
  readonly at: string;
  readonly message: string;
};

/** Whether a schema describes what callers send or what they are answered. */
export type Direction = 'input' | 'output';

/** Where a comparison is, and where it reports what it finds. */
export type Scope = {
  readonly subject: string;
  readonly at: string;
  readonly report: (change: Change) => void;
};

/** Reports one change at a place. */
export function tell(scope: Scope, name: ChangeClass, message: string): void {
  const { subject, at } = scope;
  scope.report({ class: name, severity: severities[name], subject, at: at.trim(), message });
}

/** The same scope one step further in. */
export function inside(scope: Scope, step: string): Scope {
  return { ...scope, at: `${scope.at}${step}` };
}
