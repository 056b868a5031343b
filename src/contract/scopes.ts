/** What a key can be limited to. Each operation names the scope that it needs, or several of which one is enough, as `x-required-scope`. */
export const scopes = [
  'chain:read',
  'events:read',
  'events:write',
  'events:checkin',
  'rwa:read',
  'rwa:write',
  'rwa:mint',
  'secrets:read',
  'news:manage',
] as const;

export type Scope = (typeof scopes)[number];

export const isScope = (text: unknown): text is Scope => scopes.some((scope) => scope === text);

/** Whether the key of a caller has a scope. A key without scopes may do everything. */
export const hasScope = (
  { scopes: own }: { readonly scopes: readonly Scope[] | null },
  scope: Scope,
): boolean => own === null || own.includes(scope);

/** The scopes of an `x-required-scope` that is not `none`; undefined where a word is no scope. */
export function scopesOfWord(word: unknown): readonly Scope[] | undefined {
  const named = [word].flat();
  return named.every(isScope) && named.length > 0 ? named : undefined;
}
/** The one scope of a key for one event. */
export const eventScope: Scope = 'events:checkin';

/**
 * The one scope of a key for browsers. Other scopes read guests, secrets and the like, and every visitor of the page
 * has the key.
 */
export const browserScope: Scope = 'chain:read';

/** Whether pages may use the key of a caller. */
export const isForBrowsers = ({ scopes: own }: { readonly scopes: readonly Scope[] | null }): boolean =>
  own?.length === 1 && own[0] === browserScope;
