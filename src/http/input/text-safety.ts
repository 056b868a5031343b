import type { InputError } from '../../base/problem.ts';

// Deeper than any schema of ours; a free object's own limit is far below.
const maxDepth = 100;
const maxNumber = Number.MAX_SAFE_INTEGER;
const maxFaults = 50;
// More than twice what the largest free object can have. A validator makes an error for each wrong text.
const maxValues = 20_000;

/**
 * Says what makes a text unsafe in any field: U+0000, which Postgres cannot store, or a lone surrogate.
 * @returns undefined for a safe text
 */
export function findUnsafeText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000';
  if (!text.isWellFormed()) return 'must not contain lone surrogates';
  return undefined;
}

type Found = { readonly faults: InputError[]; values: number };

/**
 * Finds what no schema word can reject in a JSON body: unsafe texts (keys of free objects included), the key
 * `__proto__`, numbers that JavaScript cannot represent exactly, and nesting beyond 100 levels. Reports at most 50 faults.
 * @returns `isTooMuch` where the body has over 20,000 values, which is its only fault then: nothing else should read it
 */
export function findUnsafeValues(body: unknown): {
  readonly faults: InputError[];
  readonly isTooMuch: boolean;
} {
  const found: Found = { faults: [], values: 0 };
  walk(body, '', 0, found);
  if (found.values <= maxValues) return { faults: found.faults, isTooMuch: false };
  const message = `The body must have no more than ${maxValues} values`;
  return { faults: [{ in: 'body', pointer: '', message }], isTooMuch: true };
}

function walk(value: unknown, pointer: string, depth: number, found: Found): void {
  found.values += 1;
  if (found.values > maxValues) return;
  const refuse = (what: string, at = pointer) => {
    if (found.faults.length < maxFaults)
      found.faults.push({ in: 'body', pointer: at, message: `${fieldName(at)} ${what}` });
  };
  if (typeof value === 'string') {
    const fault = findUnsafeText(value);
    if (fault !== undefined) refuse(fault);
  } else if (typeof value === 'number') {
    if (!(Math.abs(value) <= maxNumber)) refuse(`must be a number from -${maxNumber} to ${maxNumber}`);
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= maxDepth) {
      refuse('is nested too deeply', topOf(pointer));
      return;
    }
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [name, inner] of entries) {
      const key = String(name);
      const at = `${pointer}/${escapePointer(key)}`;
      const fault = key === '__proto__' ? 'is a name that must not be used' : findUnsafeText(key);
      if (fault !== undefined) refuse(fault, at);
      walk(inner, at, depth + 1, found);
      if (found.values > maxValues) return;
    }
  }
}

/** Writes a JSON pointer as a field name: `/data/list/3/a` becomes `data.list[3].a`. */
export function fieldName(pointer: string): string {
  if (pointer === '') return 'The body';
  const parts = pointer.slice(1).split('/').map(unescapePointer);
  return parts.reduce((name, part) => {
    if (name === '') return part;
    return /^\d+$/.test(part) ? `${name}[${part}]` : `${name}.${part}`;
  }, '');
}

/** Escapes a key for use in a JSON pointer. */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function topOf(pointer: string): string {
  return `/${pointer.split('/')[1] ?? ''}`;
}
