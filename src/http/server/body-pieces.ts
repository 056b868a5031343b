import { safeJson } from '../../base/json/safe-json.ts';
import { ItemStream } from '../../contract/item-stream.ts';
import { TextStream } from '../../contract/text-stream.ts';

/** Bytes of a piece at least. Larger pieces would keep more in memory, smaller pieces cost more writes. */
export const pieceLength = 64 * 1024;

/** The stream in a body: the body itself, or one of its fields. */
export function streamIn(body: unknown): ItemStream<unknown> | undefined {
  if (body instanceof ItemStream) return body;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  for (const name in body) {
    const value: unknown = Reflect.get(body, name);
    if (value instanceof ItemStream) return value;
  }
  return undefined;
}

/** The text of a body with a stream, in pieces. Each is made when it is asked for. */
export const piecesOf = (body: object): AsyncIterable<string> =>
  body instanceof TextStream ? body.pieces : jsonPiecesOf(body);

async function* jsonPiecesOf(body: object): AsyncGenerator<string> {
  let text = '';
  for await (const part of partsOf(body)) {
    text += part;
    if (text.length < pieceLength) continue;
    yield text;
    text = '';
  }
  yield text;
}

async function* partsOf(body: object): AsyncGenerator<string> {
  if (body instanceof ItemStream) {
    yield* itemsOf(body);
    return;
  }
  let separator = '{';
  for (const [name, value] of Object.entries(body)) {
    const isStream = value instanceof ItemStream;
    const text = isStream ? '' : safeJson(value);
    if (text === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:${text}`;
    if (isStream) yield* itemsOf(value);
    separator = ',';
  }
  yield '}';
}

async function* itemsOf({ batches }: ItemStream<unknown>): AsyncGenerator<string> {
  let separator = '[';
  for await (const batch of batches) {
    for (const item of batch) {
      yield separator + safeJson(item);
      separator = ',';
    }
  }
  yield separator === '[' ? '[]' : ']';
}
