import { generatorRules } from './generator-rules.js';
import { at, combinators, isWebhook, walk } from './schema-walk.js';
import { wordRules } from './word-rules.js';

/**
 * House rules that Redocly's configurable assertions cannot express. redocly.yaml turns them on.
 * @typedef {{ location: any, report: (problem: object) => void, key: string }} Context
 */

const methods = ['get', 'put', 'post', 'patch', 'delete'];

/** The operations of a path item. A public operation says `security: []`. */
const operationsOf = (pathItem) =>
  methods.filter((name) => pathItem[name]).map((name) => [name, pathItem[name]]);

const hasPathParameter = (path) => path.includes('{');

/** Which statuses an operation has to document, each with the reason. */
function wantedStatuses(path, operation) {
  const secured = operation.security?.length !== 0;
  const wanted = { 400: 'every operation refuses unknown query parameters', 500: 'anything can fail' };
  wanted[503] = 'anything can be down';
  wanted[429] = 'a key has a limit, and so has an address without one';
  if (secured) wanted[401] = 'it takes a key';
  if (secured && operation['x-required-scope'] !== 'none') wanted[403] = 'a key can lack its scope';
  if (hasPathParameter(path)) wanted[404] = 'the path has a parameter';
  if (operation.requestBody) Object.assign(wanted, { 413: 'it has a body', 415: 'it has a body' });
  return Object.entries(wanted);
}

/** Every operation documents the statuses that follow from what it is. */
function OperationStatuses() {
  return {
    PathItem(pathItem, { key, location, report }) {
      if (isWebhook(location)) return;
      for (const [method, operation] of operationsOf(pathItem)) {
        for (const [status, reason] of wantedStatuses(String(key), operation)) {
          if (operation.responses?.[status]) continue;
          const message = `${operation.operationId} must document ${status}, because ${reason}.`;
          report({ message, location: location.child([method, 'responses']).key() });
        }
      }
    },
  };
}

const scopeForm = /^([a-z]+:[a-z]+(,[a-z]+:[a-z]+)*|none)$/;

/** An operation that takes a key names the scope that the key needs, or several of which one is enough; one without a key has none. */
function RequiredScope() {
  return {
    PathItem(pathItem, { location, report }) {
      if (isWebhook(location)) return;
      for (const [method, operation] of operationsOf(pathItem)) {
        const scope = operation['x-required-scope'];
        const isKeyed = operation.security?.length !== 0;
        if (isKeyed ? scopeForm.test(String(scope)) : scope === undefined) continue;
        const message = isKeyed
          ? `${operation.operationId} must have x-required-scope: the scope that a key needs, a list of which it needs one, or none.`
          : `${operation.operationId} takes no key, so it has no x-required-scope.`;
        report({ message, location: location.child([method]) });
      }
    },
  };
}

/** Every 4xx and 5xx has a problem body and nothing else. */
function ProblemBodies() {
  return {
    Response: {
      skip: (_response, key) => !/^[45]/.test(String(key)),
      enter(response, { location, report }) {
        const types = Object.keys(response.content ?? {});
        const schema = response.content?.['application/problem+json']?.schema;
        if (types.length === 1 && /\bProblem\b/.test(schema?.$ref ?? '')) return;
        report({
          message:
            'A 4xx or 5xx response must have exactly one body, application/problem+json with the schema Problem.',
          location: location.child(['content']).key(),
        });
      },
    },
  };
}

/** A caller who is told to come back is told when. */
function RetryAfter() {
  return {
    Response: {
      skip: (_response, key) => !['429', '502', '503'].includes(String(key)),
      enter(response, { location, report }) {
        if (response.headers?.['Retry-After']) return;
        report({
          message: '429, 502 and 503 must have Retry-After.',
          location: location.child(['headers']).key(),
        });
      },
    },
  };
}

const typesOf = (schema) => [schema.type].flat();

/** What a schema of a request lacks to be bounded; undefined if nothing. */
function missingBound(schema) {
  const types = typesOf(schema);
  if (types.includes('string') && !schema.enum && schema.maxLength === undefined) return 'maxLength';
  const numeric = types.includes('integer') || types.includes('number');
  if (numeric && schema.minimum === undefined) return 'minimum';
  if (numeric && schema.maximum === undefined) return 'maximum';
  if (types.includes('array') && schema.maxItems === undefined) return 'maxItems';
  const free = schema['x-max-depth'] !== undefined && schema['x-max-bytes'] !== undefined;
  if (types.includes('object') && schema.additionalProperties !== false && !free) {
    return 'additionalProperties: false, or x-max-depth and x-max-bytes';
  }
  return undefined;
}

/** Requests are closed, flat and bounded in every dimension. */
function BoundedRequests() {
  const check = (root, context) =>
    walk(root, context, (schema, location) => {
      const missing = missingBound(schema);
      if (missing) context.report({ message: `A schema of a request needs ${missing}.`, location });
      const word = combinators.find((name) => schema[name]);
      if (word) context.report({ message: `A schema of a request has no ${word}.`, location });
    });
  const ofMedia = { MediaType: (media, context) => check(media.schema, at(context, 'schema')) };
  return {
    Parameter: (parameter, context) => check(parameter.schema, at(context, 'schema')),
    RequestBody: ofMedia,
  };
}

/**
 * A record can be read, changed and sent back. So the body of a change has each field that the answers of its path have, or
 * ignores it, and ignores no other.
 */
function SentBack() {
  return {
    PathItem(pathItem, { location, report, resolve }) {
      const follow = ({ node, source }) => {
        if (!node?.$ref) return { node, source };
        const found = resolve(node, source);
        return { node: found.node, source: found.location.source.absoluteRef };
      };
      const schemaOf = (holder) => {
        const { node, source } = follow({ node: holder, source: location.source.absoluteRef });
        const schema = follow({ node: node?.content?.['application/json']?.schema, source });
        return schema.node?.items ? follow({ ...schema, node: schema.node.items }).node : schema.node;
      };
      const answered = ({ responses = {} } = {}) =>
        Object.entries(responses)
          .filter(([status]) => status.startsWith('2'))
          .flatMap(([, response]) => Object.keys(schemaOf(response)?.properties ?? {}));

      for (const [method, operation] of operationsOf(pathItem)) {
        const { properties = {}, 'x-ignored-fields': ignored } = schemaOf(operation.requestBody) ?? {};
        if (method !== 'patch' && ignored === undefined) continue;
        const sent = new Set([...answered(pathItem.get), ...answered(operation)]);
        const missing = [...sent].filter((name) => !(name in properties) && !ignored?.includes(name));
        const idle = (ignored ?? []).filter((name) => name in properties || !sent.has(name));
        if (missing.length + idle.length === 0) continue;
        const message = `The body of ${operation.operationId} must have or ignore what the answers of its path have, and ignore nothing else: ${[...missing, ...idle].join(', ')}.`;
        report({ message, location: location.child([method, 'requestBody']) });
      }
    },
  };
}

/** Responses are open, so that a new field breaks nobody. */
function OpenResponses() {
  const MediaType = (media, context) =>
    walk(media.schema, at(context, 'schema'), (schema, location) => {
      if (schema.additionalProperties !== false) return;
      context.report({ message: 'A schema of a response stays open.', location });
    });
  return { Response: { MediaType } };
}

/** An empty query parameter counts as absent; whoever makes requests from the document should know. */
function EmptyQuery() {
  return {
    Parameter(parameter, { location, report }) {
      if (parameter.in !== 'query' || parameter.required || parameter.allowEmptyValue) return;
      const message = 'An optional query parameter says allowEmptyValue: true.';
      report({ message, location: location.key() });
    },
  };
}

/** The index of paths is sorted, so that a path has one place to stand. */
function SortedPaths() {
  return {
    Paths(paths, { location, report }) {
      const keys = Object.keys(paths);
      const sorted = [...keys].sort();
      const first = keys.findIndex((key, index) => key !== sorted[index]);
      if (first < 0) return;
      report({
        message: `Paths must be sorted; here ${sorted[first]} comes next.`,
        location: location.child([keys[first]]).key(),
      });
    },
  };
}

const rules = {
  'operation-statuses': OperationStatuses,
  'problem-bodies': ProblemBodies,
  'required-scope': RequiredScope,
  'retry-after': RetryAfter,
  'bounded-requests': BoundedRequests,
  'open-responses': OpenResponses,
  'sent-back': SentBack,
  'empty-query': EmptyQuery,
  'sorted-paths': SortedPaths,
  ...generatorRules,
  ...wordRules,
};

// biome-ignore lint/style/noDefaultExport: Redocly loads a plugin by its default export.
export default () => ({ id: 'tallystick', rules: { oas3: rules } });
