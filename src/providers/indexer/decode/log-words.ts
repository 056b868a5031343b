import type { RawLog } from './raw-block.ts';

/** A log does not have the shape that its topic implies. */
export class LogShapeError extends Error {}

const digits = 64;

/** Number of 32-byte words in the data. @throws LogShapeError when it is not a whole number */
export function wordCount(log: RawLog): number {
  const length = log.data.length - 2;
  if (length % digits !== 0) throw new LogShapeError('data is no row of words');
  return length / digits;
}

export function expectWords(log: RawLog, count: number): void {
  if (wordCount(log) !== count) throw new LogShapeError(`data has not ${count} words`);
}

export function wordAt(log: RawLog, index: number): bigint {
  const from = 2 + index * digits;
  return BigInt(`0x${log.data.slice(from, from + digits)}`);
}

/** An address that fills a word of the data. @throws LogShapeError when its upper bytes are not zero */
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

/** The array of words whose offset is at this word. The contract chose every number in it, so all are checked. */
export function arrayAt(log: RawLog, place: number): bigint[] {
  const words = wordCount(log);
  const start = indexWithin(wordAt(log, place), words * 32) / 32;
  if (!Number.isInteger(start) || start >= words) throw new LogShapeError('an offset is outside the data');
  const length = indexWithin(wordAt(log, start), words);
  if (start + 1 + length > words) throw new LogShapeError('an array is longer than the data');
  return Array.from({ length }, (_, index) => wordAt(log, start + 1 + index));
}

function indexWithin(value: bigint, limit: number): number {
  if (value > BigInt(limit)) throw new LogShapeError('a number is outside the data');
  return Number(value);
}
