import { problem } from '../base/errors.ts';
import type { operations } from '../contract/generated/news.ts';
import { arrayPageHeaders, cutPage, positionOf } from '../contract/list-cursor.ts';
import type { AnswerForm, AnyReply, CompanyContext, Handlers } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import { inTransaction } from '../db/connection/transaction.ts';
import { recordByKey } from '../db/records/audit-store.ts';
import { listDeliveries, resendDelivery } from './endpoints/delivery-store.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import {
  changeEndpoint,
  createEndpoint,
  readUrl,
  requireEndpoint,
  rotateSecret,
} from './endpoints/endpoint-operations.ts';
import type { EndpointSecrets } from './endpoints/endpoint-secret.ts';
import { deleteEndpoint, insertTestNews, listEndpoints } from './endpoints/endpoint-store.ts';
import { deliveryToApi, endpointToApi } from './endpoints/endpoint-to-api.ts';
import { type AllowedHosts, shortUrl } from './endpoints/endpoint-url.ts';

export type EndpointParts = {
  readonly db: Database;
  readonly secrets: EndpointSecrets;
  readonly allowedHosts: AllowedHosts;
  readonly basePath: string;
};

type EndpointOperations = Omit<operations, 'listNews' | 'getNewsKey'>;

const usualLimit = 50;

export function createEndpointHandlers(parts: EndpointParts): Handlers<EndpointOperations, CompanyContext> {
  const { db } = parts;
  const shown = (endpoint: Endpoint) => showEndpoint(endpoint, parts);
  return {
    ...createChanges(parts),
    ...createSecretHandlers(parts),
    ...createSending(parts),
    async listEndpoints(_input, { companyId }) {
      return { status: 200, body: (await listEndpoints(db, companyId)).map(shown) };
    },
    async getEndpoint({ path }, { companyId }) {
      return { status: 200, body: shown(await requireEndpoint(db, companyId, path.endpointId)) };
    },
  };
}

/** Shows an endpoint to its company. An address that does not open is shown without its path, as the sender logs. */
function showEndpoint(endpoint: Endpoint, { secrets }: EndpointParts) {
  try {
    return endpointToApi(endpoint, secrets.openUrl(endpoint));
  } catch {
    return endpointToApi(endpoint, shortUrl(endpoint.address));
  }
}

type Part<Ids extends keyof operations> = Handlers<Pick<operations, Ids>, CompanyContext>;

function createChanges(parts: EndpointParts): Part<'updateEndpoint' | 'deleteEndpoint'> {
  const { db, allowedHosts } = parts;
  return {
    async updateEndpoint({ path: { endpointId: id }, body = {} }, { companyId, origin }) {
      const { types, enabled } = body;
      const url = body.url === undefined ? undefined : readUrl(body.url, allowedHosts);
      return inTransaction(db, async (tx) => {
        const changed = await changeEndpoint(tx, parts, { companyId, id }, { url, types, enabled });
        const details = { fields: Object.keys(body) };
        await recordByKey(tx, { action: 'endpoint.update', companyId, subject: id, details }, origin);
        return { status: 200, body: showEndpoint(changed, parts) } as const;
      });
    },

    deleteEndpoint: ({ path: { endpointId: id } }, { companyId, origin }) =>
      inTransaction(db, async (tx) => {
        if (!(await deleteEndpoint(tx, companyId, id))) throw problem('endpoint_not_found');
        await recordByKey(tx, { action: 'endpoint.delete', companyId, subject: id }, origin);
        return { status: 204 } as const;
      }),
  };
}

type Shown = { readonly secret: string; readonly id?: string; readonly url?: string };
type Sealed = { readonly id: string; readonly body: Shown };

/** What shows a secret. A request that is repeated shows it again, and its record has it sealed. */
function createSecretHandlers(parts: EndpointParts): Part<'createEndpoint' | 'rotateEndpointSecret'> {
  const { secrets, allowedHosts, basePath } = parts;
  const sealedAnswer = <R extends AnyReply>(endpointId?: string): AnswerForm<R> => ({
    store(body): Sealed {
      const shown = body as Shown; // of both operations
      const id = endpointId ?? shown.id ?? '';
      const url = shown.url === undefined ? {} : { url: secrets.sealUrl(id, shown.url) };
      return { id, body: { ...shown, ...url, secret: secrets.seal(id, shown.secret) } };
    },
    async restore(_tx, stored) {
      const { id, body } = stored as Sealed; // as it was stored
      const url = body.url === undefined ? {} : { url: secrets.openUrl({ id, address: body.url }) };
      return { ...body, ...url, secret: secrets.open(id, body.secret) };
    },
  });
  return {
    async createEndpoint({ body: { url: sent, types = null } }, { companyId, once, origin }) {
      const url = readUrl(sent, allowedHosts);
      return once(async (tx) => {
        const { endpoint, secret } = await createEndpoint(tx, parts, { companyId, url, types });
        const { id } = endpoint;
        await recordByKey(
          tx,
          { action: 'endpoint.create', companyId, subject: id, details: { url: shortUrl(url) } },
          origin,
        );
        const headers = { Location: `${basePath}/endpoint/${id}` };
        return { status: 201, body: { ...endpointToApi(endpoint, url), secret }, headers } as const;
      }, sealedAnswer());
    },

    rotateEndpointSecret: ({ path: { endpointId: id }, body = {} }, { companyId, once, origin }) =>
      once(async (tx) => {
        const { secret, previousUntil } = await rotateSecret(tx, secrets, { companyId, id, ...body });
        await recordByKey(tx, { action: 'endpoint.rotate', companyId, subject: id }, origin);
        return { status: 200, body: { secret, previousUntil: previousUntil.toISOString() } } as const;
      }, sealedAnswer(id)),
  };
}

function createSending({
  db,
  basePath,
}: EndpointParts): Part<'sendTestMessage' | 'listDeliveries' | 'resendDelivery'> {
  return {
    sendTestMessage: ({ path: { endpointId: id } }, { companyId, origin }) =>
      inTransaction(db, async (tx) => {
        const endpoint = await requireEndpoint(tx, companyId, id);
        await recordByKey(tx, { action: 'endpoint.test', companyId, subject: id }, origin);
        return { status: 202, body: { id: await insertTestNews(tx, endpoint) } } as const;
      }),

    async listDeliveries({ path: { endpointId: id }, query }, { companyId }) {
      const asked = { companyId, path: `${basePath}/endpoint/${id}/deliveries`, query };
      const [before] = positionOf(asked, /^(\d{1,16})$/) ?? [];
      await requireEndpoint(db, companyId, id);
      const { limit = usualLimit } = query;
      const found = await listDeliveries(db, id, { before, limit: limit + 1 });
      const { rows, cursor } = cutPage(asked, found, limit, ({ position }) => String(position));
      return { status: 200, body: rows.map(deliveryToApi), headers: arrayPageHeaders(asked, cursor) };
    },

    resendDelivery: ({ path: { endpointId: id, sequence } }, { companyId, origin }) =>
      inTransaction(db, async (tx) => {
        await requireEndpoint(tx, companyId, id);
        const delivery = await resendDelivery(tx, id, sequence);
        if (delivery === undefined) throw problem('delivery_not_found');
        const details = { sequence };
        await recordByKey(tx, { action: 'endpoint.resend', companyId, subject: id, details }, origin);
        return { status: 200, body: deliveryToApi(delivery) } as const;
      }),
  };
}
