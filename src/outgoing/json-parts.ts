/** How many parts a JSON text may have. */
export type MostParts = {
  /** Objects and arrays. */
  readonly containers: number;
  /** Strings that are values. */
  readonly texts: number;
  /** Different names of members. */
  readonly names: number;
};

const space = 0x20;
const quote = 0x22;
const colon = 0x3a;
const bracket = 0x5b;
const backslash = 0x5c;
const brace = 0x7b;

/**
 * Whether a JSON text has more parts than these. Parsing makes an object of each: 64 MB of `[{},{},…]` are 21 million, which take 1.4 GB
 * and 13 s, and so many different names take 19 s. Numbers do not count, since they take little, and the paths of traces consist of
 * them; nor does what stands within strings. The text need not be valid.
 */
export function hasMoreParts(text: string, most: MostParts): boolean {
  const names = createNameCount(text);
  let containers = 0;
  let texts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === brace || code === bracket) {
      containers += 1;
      if (containers > most.containers) return true;
    } else if (code === quote) {
      const end = endOfString(text, at);
      if (!isName(text, end)) texts += 1;
      else names.add(at + 1, end);
      if (texts > most.texts || names.count() > most.names) return true;
      at = end;
    }
  }
  return false;
}

/** Where a string ends that begins here; beyond the text where it does not. */
function endOfString(text: string, begin: number): number {
  let end = begin;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let before = end;
    while (text.charCodeAt(before - 1) === backslash) before -= 1;
    // Of an even number of backslashes each two are one that is escaped.
    if ((end - before) % 2 === 0) return end;
  }
}

/** White space is what JSON has of it: none is above the space. */
function isName(text: string, end: number): boolean {
  let after = end + 1;
  while (text.charCodeAt(after) <= space) after += 1;
  return text.charCodeAt(after) === colon;
}

// The names of an answer are some dozens, told apart by their length and two characters.
const places = 4_096;

/** Counts different names. Each is compared with the one of its place, without a copy of it; of those that share a place there are few. */
function createNameCount(text: string) {
  const known = new Array<string | undefined>(places);
  const others = new Set<string>();
  let found = 0;
  return {
    add(begin: number, end: number) {
      const length = end - begin;
      const middle = text.charCodeAt(begin + (length >> 1));
      const place = (length * 961 + text.charCodeAt(begin) * 31 + middle) % places;
      const name = known[place];
      if (name === undefined) {
        known[place] = text.slice(begin, end);
        found += 1;
      } else if (name.length !== length || !text.startsWith(name, begin)) {
        others.add(text.slice(begin, end));
      }
    },
    count: () => found + others.size,
  };
}
