import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { shut, startListening } from './listen.ts';

/** A span as it came to a collector, by the names of OTLP. */
export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty where it begins a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Trace ids of other traces that it names. */
  readonly links: readonly string[];
  readonly isFailed: boolean;
};

export type Collector = {
  readonly url: string;
  /** What came so far. */
  readonly spans: CollectedSpan[];
  /** Each request as it came: headers and body as Latin-1, in which every text of it stands. */
  readonly requests: string[];
  close(): Promise<void>;
};

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A collector of OTLP over HTTP on a port of its own, which decodes what it is sent. */
export async function startCollector(
  answer: Answer = (response) => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(),
): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    requests.push(`${request.url} ${JSON.stringify(request.headers)} ${body.toString('latin1')}`);
    spans.push(...spansOf(body));
    answer(response, request);
  });
  return {
    url: `http://127.0.0.1:${await startListening(server)}`,
    spans,
    requests,
    close: () => shut(server),
  };
}

type Field = { readonly number: number; readonly bytes: Buffer; readonly value: bigint };

/** The fields of a message of Protocol Buffers. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    const bytes = message.subarray(at, at + length);
    at += length;
    return bytes;
  };
  while (at < message.length) {
    const tag = Number(varint());
    const form = tag & 7;
    const value = form === 0 || form === 2 ? varint() : 0n;
    const length = { 0: 0, 1: 8, 2: Number(value), 5: 4 }[form];
    if (length === undefined) throw new Error(`wire type ${form} at ${at}`);
    fields.push({ number: tag >> 3, bytes: take(length), value });
  }
  return fields;
}

const within = (fields: readonly Field[], number: number) =>
  fields.filter((field) => field.number === number).map(({ bytes }) => bytes);
const text = (fields: readonly Field[], number: number, encoding: BufferEncoding = 'utf8') =>
  within(fields, number)[0]?.toString(encoding) ?? '';

function spansOf(body: Buffer): CollectedSpan[] {
  return within(fieldsOf(body), 1)
    .flatMap((resource) => within(fieldsOf(resource), 2))
    .flatMap((scope) => within(fieldsOf(scope), 2))
    .map((span) => toSpan(fieldsOf(span)));
}

function toSpan(fields: readonly Field[]): CollectedSpan {
  const status = within(fields, 15).flatMap(fieldsOf);
  return {
    traceId: text(fields, 1, 'hex'),
    spanId: text(fields, 2, 'hex'),
    parentSpanId: text(fields, 4, 'hex'),
    name: text(fields, 5),
    kind: Number(fields.find(({ number }) => number === 6)?.value ?? 0n),
    attributes: Object.fromEntries(within(fields, 9).map(toAttribute)),
    links: within(fields, 13).map((link) => text(fieldsOf(link), 1, 'hex')),
    isFailed: status.some(({ number, value }) => number === 3 && value === 2n),
  };
}

function toAttribute(bytes: Buffer): [string, string | number] {
  const pair = fieldsOf(bytes);
  const [value] = within(pair, 2).flatMap(fieldsOf);
  const found = value?.number === 1 ? value.bytes.toString() : Number(value?.value ?? 0n);
  return [text(pair, 1), found];
}
