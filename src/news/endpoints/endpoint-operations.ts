import { randomUUID } from 'node:crypto';
import { inputInvalid, problem } from '../../base/errors.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointSecrets } from './endpoint-secret.ts';
import {
  countEndpointsAlone,
  type EndpointChanges,
  findEndpoint,
  insertEndpoint,
  isWithinFeed,
  lockEndpoint,
  setSecrets,
  updateEndpoint,
} from './endpoint-store.ts';
import { type AllowedHosts, isEndpointUrl } from './endpoint-url.ts';

/*
 * What a company or the operator does with endpoints. Each throws a ProblemError that says what is wrong.
 */

// Hours for which the secret before signs, too.
const usualOverlap = 24;
const mostEndpoints = 20;

/** @throws ProblemError `endpoint_not_found` */
export async function requireEndpoint(db: Database, companyId: string, id: string): Promise<Endpoint> {
  return existing(await findEndpoint(db, companyId, id));
}

function existing(endpoint: Endpoint | undefined): Endpoint {
  if (endpoint === undefined) throw problem('endpoint_not_found');
  return endpoint;
}

/** @throws ProblemError `input_invalid` */
export function checkUrl(url: string, allowed: AllowedHosts): void {
  if (isEndpointUrl(url, allowed)) return;
  const message = 'url must be a public https address without user and password';
  throw inputInvalid([{ in: 'body', pointer: '/url', message }]);
}

/** An endpoint with its secret in clear, which is shown once. */
type Revealed = { readonly endpoint: Endpoint; readonly secret: string };

/** @throws ProblemError `endpoint_limit_reached` */
export async function createEndpoint(
  tx: Tx,
  secrets: EndpointSecrets,
  { companyId, url, types }: Pick<Endpoint, 'companyId' | 'url' | 'types'>,
): Promise<Revealed> {
  if ((await countEndpointsAlone(tx, companyId)) >= mostEndpoints) {
    throw problem('endpoint_limit_reached', { limit: String(mostEndpoints) });
  }
  const [id, secret] = [randomUUID(), secrets.generate()];
  const sealed = [secrets.seal(id, secret)];
  return { endpoint: await insertEndpoint(tx, { id, companyId, url, types, secrets: sealed }), secret };
}

/** One that is enabled goes on from the place where it stopped. @throws ProblemError `endpoint_not_found`, `endpoint_outdated` */
export async function changeEndpoint(
  tx: Tx,
  { companyId, id }: Pick<Endpoint, 'companyId' | 'id'>,
  { url, types, enabled }: EndpointChanges,
): Promise<Endpoint> {
  const endpoint = existing(await lockEndpoint(tx, companyId, id));
  const isDisabled = endpoint.disabledReason !== null;
  if (enabled === true && isDisabled && !(await isWithinFeed(tx, endpoint)))
    throw problem('endpoint_outdated');
  return updateEndpoint(tx, id, {
    url,
    types,
    enabled: enabled === true && !isDisabled ? undefined : enabled,
  });
}

/** @throws ProblemError `endpoint_not_found` */
export async function rotateSecret(
  tx: Tx,
  secrets: EndpointSecrets,
  {
    companyId,
    id,
    overlapHours = usualOverlap,
  }: Pick<Endpoint, 'companyId' | 'id'> & { readonly overlapHours?: number | undefined },
): Promise<{ readonly secret: string; readonly previousUntil: Date }> {
  const endpoint = existing(await lockEndpoint(tx, companyId, id));
  const secret = secrets.generate();
  const previousUntil = new Date(Date.now() + overlapHours * 3_600_000);
  const kept = [secrets.seal(id, secret), ...endpoint.secrets.slice(0, 1)];
  await setSecrets(tx, id, { secrets: kept, previousUntil });
  return { secret, previousUntil };
}
