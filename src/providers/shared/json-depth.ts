import { isDeeperThan } from '../../base/json-measure.ts';

/**
 * How deep metadata may be nested. Parsers of other languages take 64 levels (.NET), 257 (jq) or 1,000 (Python), of which an answer
 * has some itself, and JSON.stringify ends with an error at some thousands.
 */
const mostLevels = 32;

/** Whether objects and arrays are nested deeper than metadata may be. */
export const isTooDeep = (value: unknown): boolean => isDeeperThan(value, mostLevels);
