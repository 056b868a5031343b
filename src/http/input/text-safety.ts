import type { InputError } from '../../contract/problem.ts';

// Deeper than any schema of ours; a free object's own limit is far below.
const maxDepth = 100;
const maxNumber = Number.MAX_SAFE_INTEGER;

/** What is wrong with a text whatever its field: U+0000, which Postgres cannot store, or half a character. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000';
  if (!text.isWellFormed()) return 'must not contain lone surrogates';
  return undefined;
}

/**
 * Finds, in a whole JSON body, what no schema word can refuse: hostile texts (keys of free objects too),
 * the name `__proto__`, numbers that JavaScript cannot hold exactly, and bottomless nesting. Stops at the
 * first fault of each kind of place; the walk is as deep as the limit and no deeper.
 */
export function hostileFaults(body: unknown): InputError[] {
  const faults: InputError[] = [];
  walk(body, '', 0, faults);
  return faults;
}

function walk(value: unknown, pointer: string, depth: number, faults: InputError[]): void {
  if (faults.length >= 50) return;
  const refuse = (what: string, at = pointer) => {
    faults.push({ in: 'body', pointer: at, message: `${fieldName(at)} ${what}` });
  };
  if (typeof value === 'string') {
    const fault = textFault(value);
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
      const fault = key === '__proto__' ? 'is a name that must not be used' : textFault(key);
      if (fault !== undefined) refuse(fault, at);
      walk(inner, at, depth + 1, faults);
    }
  }
}

/** The field of a JSON pointer as people write it: `/data/list/3/a` is `data.list[3].a`. */
export function fieldName(pointer: string): string {
  if (pointer === '') return 'The body';
  const parts = pointer.slice(1).split('/').map(unescapePointer);
  return parts.reduce((name, part) => {
    if (name === '') return part;
    return /^\d+$/.test(part) ? `${name}[${part}]` : `${name}.${part}`;
  }, '');
}

export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function topOf(pointer: string): string {
  return `/${pointer.split('/')[1] ?? ''}`;
}
