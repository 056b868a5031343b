/** What was found at the places of some JSON texts: at `rwas[].chainId`, say, kinds of values and the values. */
export type Shape = ReadonlyMap<
  string,
  { readonly kinds: ReadonlySet<string>; readonly values: ReadonlySet<unknown> }
>;

const forms: readonly (readonly [kind: string, form: RegExp])[] = [
  ['uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
  ['hash', /^0x[0-9a-f]{64}$/],
  ['address in lower case', /^0x[0-9a-f]{40}$/],
  ['address', /^0x[0-9a-fA-F]{40}$/],
  ['digits', /^\d+$/],
  ['decimal', /^\d+\.\d+$/],
  ['url', /^https?:/],
];

/** What kind of value this is; texts are told apart by their form. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'empty list' : 'list';
  if (typeof value === 'string') return forms.find(([, form]) => form.test(value))?.[0] ?? 'text';
  return typeof value;
}

/** The shape of all the texts together. What is below a place in `free` is not looked at. */
export function shapeOf(texts: readonly unknown[], free: readonly string[]): Shape {
  const shape = new Map<string, { kinds: Set<string>; values: Set<unknown> }>();
  const look = (value: unknown, place: string) => {
    const known = shape.get(place) ?? { kinds: new Set(), values: new Set() };
    shape.set(place, known);
    known.kinds.add(kindOf(value));
    if (free.includes(place.split('.').at(-1) ?? '')) return;
    if (Array.isArray(value)) for (const item of value) look(item, `${place}[]`);
    else if (value !== null && typeof value === 'object') {
      for (const [name, inner] of Object.entries(value)) look(inner, `${place}.${name}`);
    } else known.values.add(value);
  };
  for (const text of texts) look(text, '');
  return shape;
}
