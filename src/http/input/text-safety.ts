import type { InputError } from '../../contract/problem.ts';

// Deeper than any schema of ours; a free object's own limit is far below.
const maxDepth = 100;
const maxNumber = Number.MAX_SAFE_INTEGER;
const maxFaults = 50;

/**
 * Says what makes a text unsafe in any field: U+0000, which Postgres cannot store, or a lone surrogate.
 * @returns undefined for a safe text
 */
export function findUnsafeText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000';
  if (!text.isWellFormed()) return 'must not contain lone surrogates';
  return undefined;
}

/**
 * Finds what no schema word can refuse in a JSON body: unsafe texts (keys of free objects included), the key
 * `__proto__`, numbers that JavaScript cannot hold exactly, and nesting beyond 100 levels. Reports at most 50 faults.
 */
export function findUnsafeValues(body: unknown): InputError[] {
  const faults: InputError[] = [];
  walk(body, '', 0, faults);
  return faults;
}

function walk(value: unknown, pointer: string, depth: number, faults: InputError[]): void {
  if (faults.length >= maxFaults) return;
  const refuse = (what: string, at = pointer) => {
    faults.push({ in: 'body', pointer: at, message: `${fieldName(at)} ${what}` });
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
    for (const [key, inner] of Object.entries(value)) {
      const at = `${pointer}/${escapePointer(key)}`;
      const fault = key === '__proto__' ? 'is a name that must not be used' : findUnsafeText(key);
      if (fault !== undefined) refuse(fault, at);
      walk(inner, at, depth + 1, faults);
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
