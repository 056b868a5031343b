// JSON can escape what strict parsers, PostgreSQL's jsonb and UTF-8 reject: NUL, and half of a pair of surrogates.
const suspicious = /\\u(?:0000|d[89a-f])/i;
const escapes = /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u(0000|d[89a-f][0-9a-f]{2})|.)/gis;
const replacement = '\\ufffd';

/** The text with U+FFFD for each lone surrogate and each U+0000, in escapes of JSON, too. It need not be JSON. */
export function safeJsonText(text: string): string {
  const wellFormed = text.toWellFormed().replaceAll('\0', '\ufffd');
  return suspicious.test(wellFormed) ? replaceEscapes(wellFormed) : wellFormed;
}

const replaceEscapes = (json: string): string =>
  json.replace(escapes, (whole, _high, _low, lone) => (lone === undefined ? whole : replacement));

/** JSON that every parser takes, whatever texts the value has. @returns undefined for a value that JSON leaves out */
export function safeJson(value: unknown): string | undefined {
  const text: string | undefined = JSON.stringify(value);
  // The library of the language escapes lone surrogates and U+0000, so they can only be there as escapes.
  // Nearly all have no such escape at all, which is found in a third of the time.
  return text?.includes('\\u') && suspicious.test(text) ? replaceEscapes(text) : text;
}
