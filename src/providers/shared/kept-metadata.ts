import { isDeeperThan } from '../../base/json/json-measure.ts';
import { safeJson, safeJsonText } from '../../base/json/safe-json.ts';

/** Bytes of a token's metadata that are kept, as JSON text in UTF-8. */
export const maxMetadataBytes = 64 * 1024;

/**
 * How deep metadata may be nested. Parsers of other languages take 64 levels (.NET), 257 (jq) or 1,000 (Python), of which an answer
 * has some itself, and JSON.stringify ends with an error at some thousands.
 */
const mostLevels = 32;

/** Whether objects and arrays are nested deeper than metadata may be. */
export const isTooDeep = (value: unknown): boolean => isDeeperThan(value, mostLevels);

/** The member of metadata that names what was left out of them. */
const mark = '_truncated';
const maxNames = 20;
const maxNameLength = 64;
// The mark with its longest names, each letter written as an escape of six bytes.
const markBytes = maxNames * (maxNameLength * 6 + 3) + 64;

/**
 * The JSON text of metadata, at most {@link maxMetadataBytes} long and 32 levels deep. Of larger metadata the small
 * members stay, and `_truncated` names the first 20 members that were left out, such as an embedded picture.
 */
export function keptMetadata(metadata: object): string {
  if (!isTooDeep(metadata)) {
    const whole = safeJsonText(JSON.stringify(metadata));
    if (Buffer.byteLength(whole) <= maxMetadataBytes) return whole;
  }
  const members = Object.entries(metadata);
  const texts = members.flatMap(([name, value]) => {
    if (isTooDeep({ value })) return [];
    return { name, text: safeJsonText(`${JSON.stringify(name)}:${JSON.stringify(value)}`) };
  });
  const kept = new Set<string>();
  let bytes = markBytes;
  for (const { name, text } of texts.toSorted((one, other) => one.text.length - other.text.length)) {
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > maxMetadataBytes) break;
    kept.add(name);
  }
  const inside = texts.filter(({ name }) => kept.has(name));
  const outside = members.filter(([name]) => !kept.has(name));
  const names = outside.slice(0, maxNames).map(([name]) => name.slice(0, maxNameLength));
  return `{${[...inside.map(({ text }) => text), `"${mark}":${safeJson(names)}`].join()}}`;
}

/**
 * Cuts metadata that somebody else has kept as text, which need not be JSON. A text that is too large or too deep and
 * no object becomes null.
 */
export function keptMetadataText(text: string): string | null {
  const value = parsed(text);
  if (Buffer.byteLength(text) <= maxMetadataBytes && !isTooDeep(value)) return safeJsonText(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? keptMetadata(value) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
