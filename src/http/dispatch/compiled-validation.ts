import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenAPIBackend, ParsedRequest } from 'openapi-backend';

/**
 * Replaces what the library's validator computes for every request: it looks validators up, and copies and filters the
 * parts of the request, which dispatch has made as the validators want them. Bodies that are neither absent nor an
 * object are left to the library.
 */
export function replaceValidation(api: OpenAPIBackend, operationIds: Iterable<string>): void {
  const { validator } = api;
  // Compiled at start, so that the first request does not wait.
  const validators = new Map<string, readonly ValidateFunction[]>(
    [...operationIds].map((id) => [id, validator.getRequestValidatorsForOperation(id) ?? []]),
  );
  const validateRequest = validator.validateRequest.bind(validator);
  const replacement: typeof validateRequest = (request, operation) => {
    const own = typeof operation === 'object' ? validators.get(operation.operationId ?? '') : undefined;
    const { body } = request;
    if (own === undefined || (body !== undefined && typeof body !== 'object')) {
      return validateRequest(request, operation);
    }
    const { params: path, query, headers: header, cookies: cookie } = request as ParsedRequest; // dispatch makes it so
    const input = { path, query, header, cookie, ...(body !== undefined && { requestBody: body }) };
    const errors: ErrorObject[] = [];
    for (const validate of own) {
      validate(input);
      if (validate.errors) errors.push(...validate.errors);
    }
    return { valid: errors.length === 0, errors: errors.length === 0 ? null : errors };
  };
  validator.validateRequest = replacement;
}
