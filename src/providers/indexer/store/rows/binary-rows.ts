/** Writes rows of COPY's binary format, without the header and the trailer. */
export type BinaryRows = {
  /** Begins a row with its number of columns. */
  begin(columns: number): void;
  smallint(value: number): void;
  integer(value: number): void;
  bigint(value: bigint): void;
  /** @param hex of whole bytes, behind two characters of a prefix: `0x`, or that of PostgreSQL */
  bytea(hex: string): void;
  /** JSON, or any text, of ASCII alone. */
  ascii(text: string): void;
  nothing(): void;
  /** Where the next value begins. */
  place(): number;
  /** Writes the bytes between two places again. */
  repeat(from: number, to: number): void;
  /** Everything so far. */
  bytes(): Buffer;
};

/** The header and the trailer of COPY. */
export const binaryHeader = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
export const binaryTrailer = Buffer.from([0xff, 0xff]);

const firstBytes = 64 * 1_024;

/** By the code of a character: the value of a digit of hex. */
const digitValues = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 0 : value;
});

/**
 * Compared with the text format, it spares both sides the digits: for a history the server takes a tenth less time.
 */
export function createBinaryRows(): BinaryRows {
  let buffer = Buffer.allocUnsafe(firstBytes);
  let size = 0;
  /** Makes room. @returns where the room begins */
  const take = (bytes: number): number => {
    const from = size;
    size += bytes;
    if (size > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, 2 * buffer.length));
      buffer.copy(larger, 0, 0, from);
      buffer = larger;
    }
    return from;
  };
  const length = (bytes: number): number => {
    const from = take(4 + bytes);
    buffer.writeInt32BE(bytes, from);
    return from + 4;
  };
  return {
    begin(columns) {
      const at = take(2);
      buffer.writeInt16BE(columns, at);
    },
    smallint(value) {
      const at = length(2);
      buffer.writeInt16BE(value, at);
    },
    integer(value) {
      const at = length(4);
      buffer.writeInt32BE(value, at);
    },
    bigint(value) {
      const at = length(8);
      buffer.writeBigInt64BE(value, at);
    },
    bytea(hex) {
      let at = length(hex.length / 2 - 1);
      // A call of Buffer's own method takes longer for so few bytes.
      for (let place = 2; place < hex.length; place += 2) {
        const high = digitValues[hex.charCodeAt(place)] ?? 0;
        buffer[at++] = (high << 4) | (digitValues[hex.charCodeAt(place + 1)] ?? 0);
      }
    },
    ascii(text) {
      const at = length(text.length);
      buffer.write(text, at, 'latin1');
    },
    nothing() {
      const at = take(4);
      buffer.writeInt32BE(-1, at);
    },
    place: () => size,
    repeat(from, to) {
      const at = take(to - from);
      buffer.copyWithin(at, from, to);
    },
    // The kept copy is as long as the rows are.
    bytes: () => Buffer.from(buffer.subarray(0, size)),
  };
}
