import { reusingKey } from './any-operation.ts';
import { cannot, type Provocations, type Provoke, type Trial, writing } from './case.ts';

const waits = cannot('only when the feed was restored, or after days');

/** A new endpoint, for the operation with its id. */
const onNewEndpoint = (more: object = {}): Provoke =>
  writing(async ({ session, id }) =>
    session.call(id, { ids: { endpointId: await session.makeEndpoint() }, ...more }),
  );

const sent =
  (url: unknown) =>
  ({ session, id }: Trial) =>
    session.call(id, { body: { url } });

export const newsCases: Provocations = {
  'listNews news_page': ({ session, id }) => session.call(id, { query: 'limit=5' }),
  'listNews none': ({ session, id }) => session.call(id, { query: 'types=nft.transferred&limit=1' }),
  news_type_unknown: ({ session, id }) => session.call(id, { query: 'types=nft.lost' }),
  after_invalid: ({ session, id }) => session.call(id, { query: 'after=b3duIGludmVudGlvbg' }),
  feed_restarted: waits,

  'listEndpoints endpoints': writing(async ({ session, id }) => {
    await session.makeEndpoint();
    return session.call(id);
  }),
  'createEndpoint endpoint_created': writing(({ session, id }) =>
    session.call(id, {
      body: { url: 'https://partner.example/news', types: ['nft.minted', 'nft.reverted'] },
    }),
  ),
  url_required: ({ session, id }) => session.call(id, { body: {} }),
  'createEndpoint url_not_public': sent('https://127.0.0.1/news'),
  'updateEndpoint url_not_public': onNewEndpoint({ body: { url: 'http://partner.example/news' } }),
  endpoint_limit_reached: writing(async ({ session, id }) => {
    const made: string[] = [];
    try {
      for (let count = 0; ; count += 1) {
        const answer = await session.call(id, { body: { url: `https://partner-${count}.example/news` } });
        if (answer.status !== 201) return answer;
        made.push(JSON.parse(answer.text).id);
      }
    } finally {
      for (const endpointId of made) await session.call('deleteEndpoint', { ids: { endpointId } });
    }
  }),
  'createEndpoint idempotency_key_reused': reusingKey(async () => ({
    ids: {},
    first: { url: 'https://partner.example/news' },
    second: { url: 'https://partner.example/other' },
  })),
  'getEndpoint endpoint': onNewEndpoint(),
  'updateEndpoint endpoint': onNewEndpoint({ body: { enabled: true } }),
  'createEndpoint endpoint_host_limit_reached': writing(async ({ session, id }) => {
    const made: string[] = [];
    try {
      for (;;) {
        const answer = await session.call(id, { body: { url: 'https://partner.example/news' } });
        if (answer.status !== 201) return answer;
        made.push(JSON.parse(answer.text).id);
      }
    } finally {
      for (const endpointId of made) await session.call('deleteEndpoint', { ids: { endpointId } });
    }
  }),
  'updateEndpoint endpoint_host_limit_reached': writing(async ({ session, id }) => {
    const made: string[] = [];
    try {
      const endpointId = await session.makeEndpoint();
      for (;;) {
        const body = { url: 'https://partner.example/news' };
        const answer = await session.call('createEndpoint', { body });
        if (answer.status !== 201) return await session.call(id, { ids: { endpointId }, body });
        made.push(JSON.parse(answer.text).id);
      }
    } finally {
      for (const endpointId of made) await session.call('deleteEndpoint', { ids: { endpointId } });
    }
  }),
  endpoint_outdated: waits,
  'deleteEndpoint 204': onNewEndpoint(),
  'rotateEndpointSecret endpoint_secret': onNewEndpoint(),
  'rotateEndpointSecret idempotency_key_reused': reusingKey(async ({ session }) => ({
    ids: { endpointId: await session.makeEndpoint() },
    first: { overlapHours: 1 },
    second: { overlapHours: 2 },
  })),
  'sendTestMessage test_message': onNewEndpoint(),
  'listDeliveries deliveries': onNewEndpoint(),
  'listDeliveries cursor_invalid': onNewEndpoint({ query: 'cursor=b3duIGludmVudGlvbg' }),
  'resendDelivery delivery_pending': cannot('needs news that were sent'),
  delivery_not_found: onNewEndpoint(),
};
