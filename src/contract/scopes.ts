/** What a key can be limited to. Each operation names the scope that it needs, as `x-required-scope` of its document. */
export const scopes = [
  'chain:read',
  'events:read',
  'events:write',
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
