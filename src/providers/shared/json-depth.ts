import { isDeeperThan } from '../../base/json-measure.ts';

/**
 * How deep metadata may be nested. Parsers of other languages take 64 levels (.NET), 257 (jq) or 1,000 (Python), of which an answer
 * has some itself, and JSON.stringify ends with an error at some thousands.
 */
const mostLevels = 32;

/** Whether objects and arrays are nested deeper than metadata may be. */
export const isTooDeep = (value: unknown): boolean => isDeeperThan(value, mostLevels);

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [
  0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d,
];

/** The same of a JSON text. It need not be valid. */
export function isTooDeepText(text: string): boolean {
  let [levels, isInString] = [0, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if (code === openBracket || code === openBrace) levels += 1;
    else if (code === closeBracket || code === closeBrace) levels -= 1;
    if (levels > mostLevels) return true;
  }
  return false;
}
