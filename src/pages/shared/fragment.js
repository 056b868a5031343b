/* The part of an address after `#`, which browsers send to nobody. Messengers and printers change what stands there. */

/** What no reader sees, such as the line break of a link that was broken over two lines. */
export const invisible = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/** Decodes a text of an address. What is no code becomes a space. */
export function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%[0-9a-f]{2}/gi, ' ');
  }
}
