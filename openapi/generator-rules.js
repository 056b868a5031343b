/**
 * Rules for the sake of code generators: what they do not know, or make something else of, stays out of the documents.
 */

/** The root of a component: of its file, or of its place in a bundle. */
const isComponent = (pointer) => pointer === '#/' || /^#\/components\/schemas\/[^/]+$/.test(pointer);

/** A header that always has the same text says so by an enum of one, of which no generator makes a type. */
const isOfHeader = ({ source, pointer }) =>
  /\/headers\/[^/]+\/schema$/.test(`${source.absoluteRef}${pointer}`);

const typesOf = (schema) => [schema.type ?? []].flat();

/** Every body, enum and object has a name of its own; a generator invents one otherwise. */
function NamedSchemas() {
  return {
    MediaType(media, { location, report }) {
      if (media.schema?.$ref) return;
      report({ message: 'A body must be a named component.', location: location.child(['schema']) });
    },
    Schema(schema, { location, report }) {
      if (isComponent(location.pointer)) return;
      if (schema.enum && !isOfHeader(location))
        report({ message: 'An enum must be a named component.', location });
      if (typesOf(schema).includes('object') || schema.properties) {
        report({ message: 'A nested object must be a named component.', location });
      }
    },
  };
}

/** Generators make `nf_ts` of the tag NFTs. Such a tag has a plain name next to it, which they read as `x-tags`. */
function TagNames() {
  return {
    Operation({ tags = [], 'x-tags': names = [] }, { location, report }) {
      const wanted = tags
        .filter((tag) => /[A-Z]{2}/.test(tag))
        .map((tag) => tag.toLowerCase().replaceAll(' ', '_'));
      if (names.join() === wanted.join()) return;
      const message = `x-tags of an operation are the tags with several capitals in lower case: ${wanted.join() || 'none here'}.`;
      report({ message, location });
    },
  };
}

/** Nullability is one type plus null, never an alternative of schemas and never the word of OpenAPI 3.0. */
function OneType() {
  return {
    Schema(schema, { location, report, specVersion }) {
      if (typesOf(schema).filter((type) => type !== 'null').length > 1 || schema.type === 'null') {
        report({ message: 'A schema has one type, or one type plus null.', location });
      }
      if (schema.nullable !== undefined && specVersion !== 'oas3_0') {
        report({ message: "Null is a type beside the other: type: [string, 'null'].", location });
      }
    },
  };
}

// Lost without harm: what they say, the description of the whole says too.
const besideReference = new Set(['$ref', 'description', 'deprecated']);

/** Words beside `$ref` are lost in many tools. */
function PlainReferences() {
  return {
    ref: {
      enter(reference, { location, report }) {
        const words = Object.keys(reference).filter((word) => !besideReference.has(word));
        if (words.length === 0) return;
        report({
          message: `Nothing but description and deprecated stands beside $ref, not ${words.join(', ')}.`,
          location,
        });
      },
    },
  };
}

const strangeWords = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'prefixItems',
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
  'patternProperties',
  'propertyNames',
  'const',
  '$defs',
  '$dynamicRef',
  'exclusiveMinimum',
  'exclusiveMaximum',
];

/** Schemas keep to words that every generator knows. */
function PlainSchemas() {
  return {
    Schema(schema, { location, report }) {
      const words = strangeWords.filter((word) => word in schema);
      if (words.length === 0) return;
      report({ message: `Code generators do not know ${words.join(', ')} well.`, location });
    },
  };
}

/** Without a width several generators take 32 bits; above 2^53 JavaScript loses digits. */
function NumberWidths() {
  const faultOf = (schema) => {
    const types = typesOf(schema);
    if (types.includes('number') && schema.format !== 'double') return 'A number needs format: double.';
    if (!types.includes('integer')) return undefined;
    if (!['int32', 'int64'].includes(schema.format)) return 'An integer needs format: int32 or int64.';
    const isExact = schema.format === 'int32' || schema.maximum <= Number.MAX_SAFE_INTEGER;
    return isExact
      ? undefined
      : 'An int64 needs a maximum that JSON numbers hold exactly; above it, use a string.';
  };
  return {
    Schema(schema, { location, report }) {
      const message = faultOf(schema);
      if (message) report({ message, location });
    },
  };
}

const decimals =
  /^(amount|balance|block_?number(_minted)?|mintedBlock|gas(_price)?|nonce|receipt_gas_used|token_?id|transaction_index)$/i;

/** What exceeds a JSON number is a string with a pattern. */
function DecimalStrings() {
  return {
    SchemaProperties(properties, { location, report }) {
      for (const [name, schema] of Object.entries(properties)) {
        if (schema.$ref || !(decimals.test(name) || /smallest unit/.test(schema.description))) continue;
        if (typesOf(schema).includes('string') && schema.pattern) continue;
        const message = `${name} may exceed what a JSON number holds: it must be a string with a pattern.`;
        report({ message, location: location.child([name]) });
      }
    },
  };
}

/** Generators for Go make constants of the values of all enums in one scope. */
function EnumConstants() {
  const owners = new Map();
  const constantsOf = (schema) =>
    schema['x-enum-varnames'] ?? schema.enum.map((value) => String(value).toUpperCase().replace(/\W/g, '_'));
  return {
    Schema(schema, { location, report }) {
      if (!schema.enum || isOfHeader(location)) return;
      const owner = location.absolutePointer;
      const taken = constantsOf(schema).filter((name) => (owners.get(name) ?? owner) !== owner);
      for (const name of constantsOf(schema)) owners.set(name, owners.get(name) ?? owner);
      if (taken.length === 0) return;
      const message = `Another enum has ${taken.join(', ')} too: name the values apart with x-enum-varnames.`;
      report({ message, location });
    },
  };
}

/** Generators give the first value the first name of `x-enum-varnames`, and so on: a name too few moves no other. */
function EnumNames() {
  return {
    Schema(schema, { location, report }) {
      const names = schema['x-enum-varnames'];
      if (names === undefined) return;
      const [wanted, found] = [schema.enum?.length ?? 0, new Set(names).size];
      if (wanted === found && found === names.length) return;
      const message = `x-enum-varnames has a name of its own for each value: ${wanted} values have ${found} names.`;
      report({ message, location: location.child(['x-enum-varnames']) });
    },
  };
}

/** Some clients send the defaults of a document, and would contradict a cursor that has other values. */
function CursorDefaults() {
  return {
    Operation(operation, { location, report, resolve }) {
      const { absoluteRef } = location.source;
      const found = (operation.parameters ?? []).map((parameter) => resolve(parameter, absoluteRef));
      if (!found.some(({ node }) => node.name === 'cursor')) return;
      for (const parameter of found) {
        const schema = resolve(parameter.node.schema, parameter.location.source.absoluteRef).node;
        if (schema.default === undefined) continue;
        const message = `${parameter.node.name} stands beside a cursor, which says what is left out: no default.`;
        report({ message, location });
      }
    },
  };
}

/** A success without a body says so by its status, so that every other one has an example. */
function SuccessBodies() {
  return {
    Response: {
      skip: (_response, key) => !/^2/.test(String(key)) || String(key) === '204',
      enter(response, { location, report }) {
        if (response.content) return;
        report({ message: 'A success other than 204 must have a body.', location });
      },
    },
  };
}

/**
 * ogen makes one type of the headers that the inline responses of an operation share. Where one is optional here and
 * required there, its code does not compile; a response that is a component has a type of its own.
 */
function HeaderOnce() {
  return {
    Operation(operation, { location, report }) {
      const known = new Map();
      for (const [status, response] of Object.entries(operation.responses ?? {})) {
        for (const [name, header] of Object.entries(response.headers ?? {})) {
          const definition = JSON.stringify(header);
          if ((known.get(name) ?? definition) === definition) {
            known.set(name, definition);
            continue;
          }
          const message = `Two inline responses define ${name} differently: make one of them a component.`;
          report({ message, location: location.child(['responses', status, 'headers', name]) });
        }
      }
    },
  };
}

/** Clients that take parameters and fields as the arguments of one function cannot have two of one name. */
function ApartNames() {
  return {
    PathItem(pathItem, { location, report, resolve }) {
      const { absoluteRef } = location.source;
      const at = (node, source = absoluteRef) => (node?.$ref ? resolve(node, source) : { node, location });
      const namesOf = (parameters = []) => parameters.map((parameter) => at(parameter).node.name);
      const onPath = namesOf(pathItem.parameters);
      for (const operation of Object.values(pathItem)) {
        const schema = operation?.requestBody?.content?.['application/json']?.schema;
        if (schema === undefined) continue;
        const taken = new Set([...onPath, ...namesOf(operation.parameters)]);
        const body = at(schema);
        for (const name of Object.keys(body.node.properties ?? {})) {
          if (!taken.has(name)) continue;
          const message = `${operation.operationId}: ${name} is a parameter and a field of the body.`;
          report({ message, location: body.location.child(['properties', name]) });
        }
      }
    },
  };
}

const keywords = new Set(
  'and as assert async await break case catch class const continue def default del do else except export extends finally fn for from func function global go if impl import in is lambda let match mod module mut new nil nonlocal not null or package pass raise return select self static struct super switch this throw trait try union unsafe until use var void when where while with yield'.split(
    ' ',
  ),
);

/** A field named like a keyword has another name in each generated client. */
function PlainNames() {
  return {
    SchemaProperties(properties, { location, report, specVersion }) {
      // 3.0 has no word beside a reference.
      const isKnown = (schema) => schema.deprecated || (specVersion === 'oas3_0' && schema.$ref);
      for (const [name, schema] of Object.entries(properties)) {
        if (!keywords.has(name) || isKnown(schema)) continue;
        report({ message: `${name} is a keyword of several languages.`, location: location.child([name]) });
      }
    },
  };
}

/** Some parsers of 3.1 refuse words beside the default of a server's variable. */
function PlainServers() {
  return {
    ServerVariable(variable, { location, report }) {
      if (variable.description === undefined) return;
      report({
        message: 'A variable of a server has no description.',
        location: location.child('description'),
      });
    },
  };
}

export const generatorRules = {
  'apart-names': ApartNames,
  'cursor-defaults': CursorDefaults,
  'decimal-strings': DecimalStrings,
  'enum-constants': EnumConstants,
  'enum-names': EnumNames,
  'header-once': HeaderOnce,
  'named-schemas': NamedSchemas,
  'number-widths': NumberWidths,
  'one-type': OneType,
  'plain-names': PlainNames,
  'plain-references': PlainReferences,
  'plain-schemas': PlainSchemas,
  'plain-servers': PlainServers,
  'success-bodies': SuccessBodies,
  'tag-names': TagNames,
};
