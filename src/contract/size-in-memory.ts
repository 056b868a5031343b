// A field with its value, and an object or text by itself, in the heap of the runtime.
const fieldBytes = 8;
const objectBytes = 32;

/**
 * Returns the bytes that a value of JSON takes in memory, about. Texts count two bytes for each character. A text that
 * ASCII cannot write takes as much. Other texts are there a second time, as a row or a piece, while they are sent.
 */
export function sizeInMemory(value: unknown): number {
  if (typeof value === 'string') return objectBytes + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = objectBytes;
  if (Array.isArray(value)) for (const item of value) bytes += fieldBytes + sizeInMemory(item);
  // Without a list of its fields, which for small objects costs as much as the rest.
  else for (const name in value) bytes += fieldBytes + sizeInMemory(Reflect.get(value, name));
  return bytes;
}
