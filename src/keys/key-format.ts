import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

// tk_<environment>_<30 random><6 checksum>, both base62: 30 characters contain 178 random bits, and 6 are the fewest
// for a CRC-32. With underscores a double click selects the whole key. With the checksum a mistyped key is rejected
// without a lookup, and secret scanners recognise a leaked key.
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 30;
const checksumLength = 6;
const shape = /^(tk_([a-z]{2,10})_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

/**
 * Generates a key of an environment.
 * @param environment 2 to 10 lower-case letters
 * @param random returns the given number of unpredictable bytes; Node's own by default
 */
export function generateKey(environment: string, random: (size: number) => Buffer = randomBytes): string {
  const body = `tk_${environment}_${randomDigits(random)}`;
  return body + checksum(body);
}

/** Whether a text has the form and the checksum of a key of this environment. */
export function isWellFormedKey(key: string, environment: string): boolean {
  const [, body, itsEnvironment, itsChecksum] = shape.exec(key) ?? [];
  return body !== undefined && itsEnvironment === environment && itsChecksum === checksum(body);
}

/** The SHA-256 of a key, which is stored in its place. A key has too much entropy to need a slow hash. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The beginning of a key, which people may see: `tk_live_Ab12…`. */
export function keyHint(key: string): string {
  return `${key.slice(0, key.lastIndexOf('_') + 5)}…`;
}

function randomDigits(random: (size: number) => Buffer): string {
  let text = '';
  while (text.length < randomLength) {
    for (const byte of random(randomLength)) {
      // 248 is the largest multiple of 62 in a byte: larger values would favour the first digits.
      if (byte < 248 && text.length < randomLength) text += digits.charAt(byte % digits.length);
    }
  }
  return text;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < checksumLength; place += 1) {
    text = digits.charAt(rest % digits.length) + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}
