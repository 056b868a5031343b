import type { operations } from '../contract/generated/news.ts';
import type { CompanyContext, Handlers } from '../contract/operation.ts';
import { createEndpointHandlers, type EndpointParts } from './endpoint-handlers.ts';
import { createFeedHandlers, type FeedParts } from './feed-handlers.ts';

/** The handlers of the area news, except the handler that all areas share. */
export const createNewsHandlers = (
  parts: FeedParts & EndpointParts,
): Handlers<Omit<operations, 'getNewsKey'>, CompanyContext> => ({
  ...createFeedHandlers(parts),
  ...createEndpointHandlers(parts),
});
