import { randomUUID } from 'node:crypto';
import { inputInvalid, problem } from '../../base/errors.ts';
import type { Database, Tx } from '../../contract/transaction.ts';
import type { Endpoint } from './endpoint.ts';
import type { EndpointSecrets } from './endpoint-secret.ts';
import {
  type EndpointChanges,
  findEndpoint,
  insertEndpoint,
  isWithinFeed,
  listEndpointsAlone,
  lockEndpoint,
  setSealed,
  updateEndpoint,
} from './endpoint-store.ts';
import { type AllowedHosts, hostOf, isAllowed, isEndpointUrl, usedUrl } from './endpoint-url.ts';

/*
 * What a company or the operator does with endpoints. Each throws a ProblemError that says what is wrong.
 */

// Hours for which the secret before signs, too.
const usualOverlap = 24;
const mostEndpoints = 20;
// Of one company. The owner of the host may be a stranger to it.
const mostOfHost = 5;

/** @throws ProblemError `endpoint_not_found` */
export async function requireEndpoint(db: Database, companyId: string, id: string): Promise<Endpoint> {
  return existing(await findEndpoint(db, companyId, id));
}

function existing(endpoint: Endpoint | undefined): Endpoint {
  if (endpoint === undefined) throw problem('endpoint_not_found');
  return endpoint;
}

/** Reads an address as it is used. @throws ProblemError `input_invalid` */
export function readUrl(url: string, allowed: AllowedHosts): string {
  if (isEndpointUrl(url, allowed)) return usedUrl(url);
  const message = 'url must be a public https address without user and password';
  throw inputInvalid([{ in: 'body', pointer: '/url', message }]);
}

/** An endpoint with its secret in clear, which is shown once. */
type Revealed = { readonly endpoint: Endpoint; readonly secret: string };

export type EndpointKeeper = {
  readonly secrets: EndpointSecrets;
  /** Hosts that belong to the operator, of which a company may have any number of endpoints. */
  readonly allowedHosts: AllowedHosts;
};

/** @param wanted.url as {@link readUrl} gives it. @throws ProblemError `endpoint_limit_reached`, `endpoint_host_limit_reached` */
export async function createEndpoint(
  tx: Tx,
  { secrets, allowedHosts }: EndpointKeeper,
  { companyId, url, types }: Pick<Endpoint, 'companyId' | 'types'> & { readonly url: string },
): Promise<Revealed> {
  const own = await listEndpointsAlone(tx, companyId);
  if (own.length >= mostEndpoints) throw problem('endpoint_limit_reached', { limit: String(mostEndpoints) });
  assertHostFree(own, url, allowedHosts);
  const [id, secret] = [randomUUID(), secrets.generate()];
  const sealed = { address: secrets.sealUrl(id, url), secrets: [secrets.seal(id, secret)] };
  return { endpoint: await insertEndpoint(tx, { id, companyId, types, ...sealed }), secret };
}

/** @throws ProblemError `endpoint_host_limit_reached` when other endpoints of the company name the host too often */
function assertHostFree(others: readonly Endpoint[], url: string, allowedHosts: AllowedHosts): void {
  if (isAllowed(new URL(url), allowedHosts)) return;
  const host = hostOf(url);
  if (others.filter(({ address }) => hostOf(address) === host).length >= mostOfHost)
    throw problem('endpoint_host_limit_reached', { limit: String(mostOfHost), host });
}

/**
 * Changes an endpoint. When it is enabled again, it goes on from the place where it stopped.
 * @param changes.url as {@link readUrl} gives it
 * @throws ProblemError `endpoint_not_found`, `endpoint_outdated`, `endpoint_host_limit_reached`
 */
export async function changeEndpoint(
  tx: Tx,
  { secrets, allowedHosts }: EndpointKeeper,
  { companyId, id }: Pick<Endpoint, 'companyId' | 'id'>,
  { url, types, enabled }: Omit<EndpointChanges, 'address'> & { readonly url?: string | undefined },
): Promise<Endpoint> {
  const own = url === undefined ? [] : await listEndpointsAlone(tx, companyId);
  const endpoint = existing(await lockEndpoint(tx, companyId, id));
  if (url !== undefined && hostOf(url) !== hostOf(endpoint.address)) assertHostFree(own, url, allowedHosts);
  const isDisabled = endpoint.disabledReason !== null;
  if (enabled === true && isDisabled && !(await isWithinFeed(tx, endpoint)))
    throw problem('endpoint_outdated');
  return updateEndpoint(tx, id, {
    address: url === undefined ? undefined : secrets.sealUrl(id, url),
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
  await setSealed(tx, id, { ...endpoint, secrets: kept, previousUntil });
  return { secret, previousUntil };
}
