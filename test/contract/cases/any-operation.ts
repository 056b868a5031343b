import { randomUUID } from 'node:crypto';
import { unknownIds } from '../operations.ts';
import { Unprovoked } from '../session.ts';
import { cannot, type Provocations, type Provoke, writing } from './case.ts';

const down = 'only while something of the deployment is down';

/** A cursor that the service did not make. */
export const foreignCursor = 'cursor=b3duIGludmVudGlvbg';

/** What operations have in common. All of it is refused, and with ids that name nothing. */
export const anyOperation: Provocations = {
  api_key_missing: ({ session, id }) => session.call(id, { key: null }),
  api_key_invalid: ({ session, id }) => session.call(id, { key: 'tk_live_nobody' }),
  company_required: async ({ session, id }) => {
    const { noCompany } = session.keys;
    if (noCompany === undefined) throw new Unprovoked('needs --no-company-key, a key without a company');
    return session.call(id, { key: noCompany });
  },
  insufficient_scope: async ({ session, id }) => {
    const { scoped } = session.keys;
    if (scoped === undefined)
      throw new Unprovoked('needs --scoped-key, a key with the scope secrets:read only');
    return session.call(id, { key: scoped });
  },

  key: ({ session, id }) => session.call(id),
  usage: ({ session, id }) => session.call(id),
  usage_by_key: ({ session, id }) => session.call(id, { query: 'by=key' }),
  from_required: ({ session, id, row }) =>
    session.call(id, { path: row.path(unknownIds()).replace(/from=[^&]*&/, '') }),

  query_parameter_unknown: ({ session, id }) => session.call(id, { query: 'colour=red' }),
  limit_too_high: ({ session, id }) => session.call(id, { query: 'limit=201' }),
  id_malformed: ({ session, id }) =>
    session.call(id, {
      ids: { eventId: '42', rwaId: '42', nftId: '42', snapshotId: '42', endpointId: '42' },
    }),
  path_malformed: ({ session, id }) =>
    session.call(id, {
      ids: { eventId: '%zz', rwaId: '%zz', nftId: '%zz', snapshotId: '%zz', endpointId: '%zz' },
    }),

  json_malformed: ({ session, id }) => session.call(id, { body: '{"name":' }),
  body_field_unknown: ({ session, id, row }) =>
    session.call(id, { body: { ...row.body?.(unknownIds()), colour: 'red' } }),
  body_too_large: ({ session, id }) => session.call(id, { body: { name: 'x'.repeat(110_000) } }),
  media_type_unsupported: ({ session, id }) =>
    session.call(id, { body: 'name=x', headers: { 'content-type': 'text/plain' } }),
  headers_too_large: ({ session, id }) => session.call(id, { query: `cursor=${'x'.repeat(17_000)}` }),

  event_not_found: ({ session, id }) => session.call(id),
  rwa_not_found: ({ session, id }) => session.call(id),
  nft_not_found: ({ session, id }) => session.call(id),
  snapshot_not_found: ({ session, id }) => session.call(id),
  token_not_found: ({ session, id }) => session.call(id),
  endpoint_not_found: ({ session, id }) => session.call(id),

  rate_limited: cannot('would use up the limit of the key'),
  idempotency_in_progress: cannot('only in the moment between a request and its answer'),
  internal_error: cannot('only by a fault of the service'),
  auth_unavailable: cannot(down),
  service_unavailable: cannot(down),
  contract_unverified: cannot(down),
  overloaded: cannot('would take the whole service'),
  history_unavailable: cannot(down),
  nfts_unavailable: cannot(down),
  tokens_unavailable: cannot(down),
  approvals_unavailable: cannot(down),
  as_of_too_far: cannot('needs a wallet with 20,000 records'),
  balance_unavailable: cannot(down),
};

/** The same `Idempotency-Key` twice, first with the one body and then with the other. */
export function reusingKey(bodies: (trial: Parameters<Provoke>[0]) => Promise<KeyUse>): Provoke {
  return writing(async (trial) => {
    const { session, id } = trial;
    const { ids, first, second } = await bodies(trial);
    const headers = { 'idempotency-key': randomUUID() };
    const begun = await session.call(id, { ids, body: first, headers });
    if (begun.status >= 300) throw new Unprovoked(`the first request was answered ${begun.status}`);
    return session.call(id, { ids, body: second, headers });
  });
}

type KeyUse = {
  readonly ids: {
    readonly eventId?: string;
    readonly rwaId?: string;
    readonly nftId?: string;
    readonly endpointId?: string;
  };
  readonly first: object;
  readonly second: object;
};
