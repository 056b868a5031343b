import { placeholders } from '../../../src/http/mounts/deployment.ts';
import type { Call } from './call.ts';

/** In single quotes the shell leaves everything alone but the single quote itself. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** For a POSIX shell with the key in the variable TALLYSTICK_KEY. */
export function curlSample({ method, path, query, body, key, idempotent }: Call): string {
  const verb = method === 'GET' ? (query.length > 0 ? '-G ' : '') : `-X ${method} `;
  return [
    `curl ${verb}"${placeholders.baseUrl}${path}"`,
    ...(key ? ['-H "x-api-key: $TALLYSTICK_KEY"'] : []),
    ...(idempotent ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...query.map(([name, value]) => `-d ${name}=${encodeURIComponent(value)}`),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}
