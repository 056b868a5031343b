import { Ajv2020, type Options as AjvOptions, type FormatDefinition } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { Options } from 'openapi-backend';
import { isDeeperThan, jsonBytes } from '../../base/json/json-measure.ts';

type AjvCustomizer = NonNullable<Options['customizeAjv']>;
type Context = Parameters<AjvCustomizer>[2];

// ajv-formats is CommonJS: the plugin is a property of the default export under Node's ESM loader.
const addFormats = addFormatsModule.default;

// Annotations of OpenAPI and our own, without effect on validity. Strict mode rejects words that it does not know.
const vocabulary = [
  'example',
  'externalDocs',
  'xml',
  'discriminator',
  'x-message-required',
  'x-code-required',
  'x-form',
  'x-enum-varnames',
  'x-ignored-fields',
];

const bitRange = (bits: number): FormatDefinition<number> => ({
  type: 'number',
  validate: (value) => value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1),
});
const anyNumber: FormatDefinition<number> = { type: 'number', validate: () => true };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const dateAlone = /^\d{4}-\d{2}-\d{2}$/;
const year0 = /^0000/;
const leapSecond = /:60/;

/**
 * Creates the validators of the service: two strict Ajv instances for JSON Schema 2020, one for parameters and one
 * for everything else, shared by all documents and operations. They coerce nothing: parameters are coerced before,
 * bodies never. Defaults are filled in for parameters only.
 */
export function createAjvProvider(): AjvCustomizer {
  const times = createTimes();
  const parameters = createAjv({ useDefaults: true }, times);
  const bodies = createAjv({}, times);
  acceptDates(bodies, times);
  return (_ajv, _options, context: Context) => {
    const chosen: unknown = context === 'paramsValidator' ? parameters : bodies;
    return chosen as ReturnType<AjvCustomizer>; // Ajv2020 has every member of Ajv that the library uses
  };
}

// Schemas are validated when documents are bundled. Here that would take a fifth of the start.
const checked: AjvOptions = { validateSchema: false, meta: false };

function createAjv(options: AjvOptions, times: Times): Ajv2020 {
  const ajv = new Ajv2020({
    ...checked,
    strict: true,
    allowUnionTypes: true,
    allErrors: true,
    verbose: true,
    ...options,
  });
  addFormats(ajv);
  // ajv-formats accepts `urn:uuid:`, which Postgres does not.
  ajv.addFormat('uuid', uuid);
  ajv.addFormat('date-time', times.dateTime);
  ajv.addFormat('date', times.date);
  ajv.addFormat('int32', bitRange(32));
  ajv.addFormat('int64', bitRange(64));
  ajv.addFormat('float', anyNumber);
  ajv.addFormat('double', anyNumber);
  for (const word of vocabulary) ajv.addKeyword(word);
  ajv.addKeyword({ keyword: 'x-max-depth', type: 'object', schemaType: 'number', validate: withinDepth });
  ajv.addKeyword({ keyword: 'x-max-bytes', type: 'object', schemaType: 'number', validate: withinBytes });
  return ajv;
}

/**
 * In bodies a time may be a date alone, which the patterns of its fields say: `format` is there for typed clients, who
 * send back what they read.
 */
function acceptDates(ajv: Ajv2020, { dateTime }: Times): void {
  ajv.addFormat('date-time', (text) => dateTime(text) || dateAlone.test(text));
}

type Times = Readonly<Record<'dateTime' | 'date', (text: string) => boolean>>;

/** Rejects leap seconds and the year 0, which RFC 3339 allows but JavaScript and Postgres cannot represent. */
function createTimes(): Times {
  const plain = new Ajv2020(checked);
  addFormats(plain);
  const isDateTime = plain.compile({ type: 'string', format: 'date-time' });
  const isDate = plain.compile({ type: 'string', format: 'date' });
  return {
    dateTime: (text) =>
      !text.includes(' ') && !leapSecond.test(text) && !year0.test(text) && isDateTime(text),
    date: (text) => !year0.test(text) && isDate(text),
  };
}

const withinDepth = (limit: number, value: unknown) => !isDeeperThan(value, limit);

function withinBytes(limit: number, value: unknown): boolean {
  try {
    return jsonBytes(value) <= limit;
  } catch {
    // Nested too deeply for the engine's stack.
    return false;
  }
}
