import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** Compiles a component of a document to a check that lists the errors of a value. */
export function contractSchema(component: string, area = 'blockchain'): (value: unknown) => string[] {
  const file = fileURLToPath(new URL(`../../src/contract/generated/${area}.json`, import.meta.url));
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addSchema(JSON.parse(readFileSync(file, 'utf8')), 'document');
  const validate = ajv.compile({ $ref: `document#/components/schemas/${component}` });
  return (value) =>
    validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}
