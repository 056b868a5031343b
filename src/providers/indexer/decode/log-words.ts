import type { RawLog } from './raw-block.ts';

/** A log does not have the shape that its topic implies. */
export class LogShapeError extends Error {}

const digits = 64;

/**
 * Checks that the data has that many 32-byte words. Further bytes are ignored, as ABI decoders do. @throws
 * LogShapeError
 */
export function expectWords(log: RawLog, count: number): void {
  if (log.data.length - 2 < count * digits) throw new LogShapeError(`data has not ${count} words`);
}

export function wordAt(log: RawLog, index: number): bigint {
  const from = 2 + index * digits;
  return BigInt(`0x${log.data.slice(from, from + digits)}`);
}

/** Returns the address that fills a word of the data. @throws LogShapeError when its upper bytes are not zero */
export function addressAt(log: RawLog, index: number): string {
  const from = 2 + index * digits;
  return addressIn(log.data.slice(from, from + digits));
}

export function topicAt(log: RawLog, index: number): bigint {
  return BigInt(topicText(log, index));
}

export function topicAddress(log: RawLog, index: number): string {
  return addressIn(topicText(log, index).slice(2));
}

function topicText(log: RawLog, index: number): string {
  const topic = log.topics[index];
  if (topic === undefined) throw new LogShapeError(`topic ${index} is missing`);
  return topic;
}

const padding = '0'.repeat(24);

function addressIn(word: string): string {
  if (!word.startsWith(padding)) throw new LogShapeError('an address is over 20 bytes');
  return `0x${word.slice(24).toLowerCase()}`;
}

/**
 * Returns the array of words whose offset, in bytes, is at this word. The contract chose every number in it, so all
 * are checked. Like an ABI decoder, it accepts an offset between words and data after the array.
 */
export function arrayAt(log: RawLog, place: number): bigint[] {
  const bytes = (log.data.length - 2) / 2;
  const start = indexWithin(wordAt(log, place), bytes) / 32;
  if (start * 32 + 32 > bytes) throw new LogShapeError('an offset is outside the data');
  const length = indexWithin(wordAt(log, start), bytes);
  if (start * 32 + 32 + length * 32 > bytes) throw new LogShapeError('an array is longer than the data');
  return Array.from({ length }, (_, index) => wordAt(log, start + 1 + index));
}

function indexWithin(value: bigint, limit: number): number {
  if (value > BigInt(limit)) throw new LogShapeError('a number is outside the data');
  return Number(value);
}
