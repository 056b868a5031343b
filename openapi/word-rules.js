/**
 * Rules for the words by which a document tells how a refusal is worded: they are complete, and stand only where
 * the service reads them.
 */
import { at, walk } from './schema-walk.js';

const isText = (value) => typeof value === 'string' && value !== '';

/** Visitors that report, at the end, the schemas with any of the words that are not in `allowed`. */
function refuseElsewhere(words, allowed, message) {
  const found = [];
  return {
    Schema(schema, { location }) {
      if (words.some((word) => word in schema)) found.push({ schema, location });
    },
    Root: {
      leave(_root, { report }) {
        for (const { schema, location } of found) {
          if (!allowed.has(schema)) report({ message, location });
        }
      },
    },
  };
}

// The service says itself that a text has U+0000.
const anyText = '^[^\\x00]*$';

/** A caller who sends a wrong form reads the right one in words, not as a regular expression. */
function PatternForms() {
  const inRequests = new Set();
  const check = (root, context) =>
    walk(root, context, (schema, location) => {
      if (schema.pattern === undefined || schema.pattern === anyText) return;
      inRequests.add(schema);
      if (isText(schema['x-form'])) return;
      context.report({ message: 'A pattern of a request needs x-form, which says it in words.', location });
    });
  const misplaced = 'x-form belongs beside a pattern of a request.';
  return {
    Parameter: (parameter, context) => check(parameter.schema, at(context, 'schema')),
    RequestBody: { MediaType: (media, context) => check(media.schema, at(context, 'schema')) },
    ...refuseElsewhere(['x-form'], inRequests, misplaced),
  };
}

/** The message for a missing input has a problem code, and stands where the input is required. */
function RequiredMessages() {
  const words = ['x-message-required', 'x-code-required'];
  const required = new Set();
  const check = (schema, location, report) => {
    required.add(schema);
    const present = words.filter((word) => isText(schema[word]));
    if (present.length === 1) report({ message: `${words.join(' and ')} come together.`, location });
  };
  const misplaced = `${words.join(' and ')} belong to the inline schema of a required parameter or field.`;
  return {
    Parameter(parameter, { location, report }) {
      if (parameter.required) check(parameter.schema ?? {}, location.child(['schema']), report);
    },
    RequestBody: {
      MediaType(media, { location, report, resolve }) {
        const body = resolve(media.schema, location.source.absoluteRef);
        for (const name of body.node?.required ?? []) {
          check(body.node.properties?.[name] ?? {}, body.location.child(['properties', name]), report);
        }
      },
    },
    ...refuseElsewhere(words, required, misplaced),
  };
}

// Each holds U+0000 in another place of what patterns of ours look like.
const unstorable = ['\0', 'a\0', '\0a', 'https://a.example/\0'];
const storableFormats = new Set(['uuid', 'date-time', 'date']);

/** PostgreSQL stores no U+0000, so a document refuses it, and nobody has to find out. */
function StorableTexts() {
  const check = (root, context) =>
    walk(root, context, ({ type, enum: values, format, pattern }, location) => {
      if (![type].flat().includes('string') || values || storableFormats.has(format)) return;
      const form = pattern === undefined ? /^/ : new RegExp(pattern, 'u');
      if (!unstorable.some((text) => form.test(text))) return;
      context.report({ message: 'A text of a request needs a pattern that refuses U+0000.', location });
    });
  return {
    Parameter: (parameter, context) => check(parameter.schema, at(context, 'schema')),
    RequestBody: { MediaType: (media, context) => check(media.schema, at(context, 'schema')) },
  };
}

export const wordRules = {
  'pattern-forms': PatternForms,
  'required-messages': RequiredMessages,
  'storable-texts': StorableTexts,
};
