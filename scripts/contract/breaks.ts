/** A difference, as `redocly diff` reports it. */
type Change = {
  /** The name that OpenAPI gives to what changed, such as `RequestBody`. */
  readonly typeName: string;
  readonly kind: 'added' | 'removed' | 'modified';
  readonly property?: string;
  readonly base?: Side;
  readonly revision?: Side;
  readonly verdicts: readonly {
    readonly ruleId: string;
    readonly impact: string;
    readonly message: string;
  }[];
};

/** A value, and the JSON pointer to where it is written. */
type Side = { readonly pointer: string; readonly value: unknown };

/** The differences between two documents of an area. */
export type Diff = { readonly area: string; readonly changes: readonly Change[] };

/** A change that a caller which was right before may not survive. */
export type Break = {
  readonly area: string;
  /** `GET /event`, or a component such as `schemas/Event` once for all its users. */
  readonly subject: string;
  readonly rule: string;
  readonly message: string;
};

const isTrue = (value: unknown) => value === true;

/** What callers notice and redocly does not judge. */
const ownRules: readonly { rule: string; message: string; fits: (change: Change) => boolean }[] = [
  {
    rule: 'required-body-added',
    message: 'A required body was added.',
    fits: ({ typeName, kind, revision }) =>
      typeName === 'RequestBody' && kind === 'added' && isTrue(Object(revision?.value).required),
  },
  {
    rule: 'header-became-optional',
    message: 'The header is no longer always there.',
    fits: ({ typeName, property, base }) =>
      typeName === 'Header' && property === 'required' && isTrue(base?.value),
  },
  {
    rule: 'property-became-read-only',
    message: 'What is sent is ignored now.',
    fits: ({ typeName, property, revision }) =>
      typeName === 'Schema' && property === 'readOnly' && isTrue(revision?.value),
  },
];

const largest = /^max|^exclusiveMaximum$/;

/** Whether a change is a larger limit, which the guide to versions lets answers have without notice. */
const isLargerLimit = ({ property = '', base, revision }: Change): boolean =>
  largest.test(property) && Number(revision?.value ?? Number.POSITIVE_INFINITY) > Number(base?.value);

export const breaksOf = ({ area, changes }: Diff): Break[] =>
  changes.flatMap((change) => {
    if (isLargerLimit(change)) return [];
    const judged = change.verdicts.filter(({ impact }) => impact === 'major');
    const own = ownRules.filter(({ fits }) => fits(change));
    const found = [...judged.map(({ ruleId, message }) => ({ rule: ruleId, message })), ...own];
    return found.map(({ rule, message }) => ({ area, subject: subjectOf(change), rule, message }));
  });

function subjectOf({ base, revision }: Change): string {
  const { pointer } = base ?? revision ?? { pointer: '' };
  const steps = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const [, kind = '', name = '', inner = ''] = steps;
  if (kind === 'components') return `${name}/${inner}`;
  if (kind !== 'paths') return kind;
  return /^(get|put|post|delete|patch)$/.test(inner) ? `${inner.toUpperCase()} ${name}` : name;
}

/**
 * Whether the changelog announces a break: a line under `### Breaking` of its section `## Unreleased`
 * names subject and rule, both in backticks.
 */
export function createAnnouncements(changelog: string): (change: Break) => boolean {
  const [, unreleased = ''] = changelog.split(/^## \[?Unreleased\b.*$/im);
  const [, breaking = ''] = (unreleased.split(/^## /m, 1)[0] ?? '').split(/^### Breaking\b.*$/im);
  const lines = (breaking.split(/^### /m, 1)[0] ?? '').split(/\n(?=- )/);
  return ({ subject, rule }) =>
    lines.some((line) => line.includes(`\`${subject}\``) && line.includes(`\`${rule}\``));
}
