import { isDeeperThan, jsonBytes } from '../../base/json/json-measure.ts';

const maxBytes = 16_384;
const maxDepth = 20;

/** Checks a free JSON object before it is stored. @returns what is wrong with it; undefined when nothing is */
export function freeDataFault(data: object): string | undefined {
  // The depth comes first: JSON.stringify recurses, and deep nesting may overflow its stack.
  if (isDeeperThan(data, maxDepth)) return `must not be nested deeper than ${maxDepth} levels`;
  if (jsonBytes(data) > maxBytes) return `must be at most ${maxBytes} bytes as JSON`;
  const written = JSON.stringify(data);
  // JSON.stringify escapes exactly NUL and lone surrogates like this; jsonb takes neither.
  if (/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/.test(written)) return 'must be well-formed Unicode without NUL';
  return undefined;
}
