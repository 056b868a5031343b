import type { components } from '../../contract/generated/news.ts';
import type { Delivery, Endpoint } from './endpoint.ts';

type Schemas = components['schemas'];

/** Converts an endpoint to the contract's form, without its secrets. @param url its address as the reader may see it */
export function endpointToApi(endpoint: Endpoint, url: string): Schemas['Endpoint'] {
  const { id, types, disabledReason, failingSince, position, createdAt, updatedAt } = endpoint;
  return {
    id,
    url,
    types: types === null ? null : [...types],
    enabled: disabledReason === null,
    disabledReason,
    failingSince: failingSince?.toISOString() ?? null,
    sequence: position,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

export function deliveryToApi(delivery: Delivery): Schemas['Delivery'] {
  const { position, newsId, type, delivered, attempts, status, error, answer } = delivery;
  return {
    sequence: position,
    newsId,
    type,
    state: delivered ? 'delivered' : 'pending',
    attempts,
    status,
    error,
    answer,
    attemptedAt: delivery.attemptedAt?.toISOString() ?? null,
    nextAttemptAt: delivered ? null : delivery.nextAttemptAt.toISOString(),
  };
}
