import createClient, { type Client, type ClientOptions } from 'openapi-fetch';
import { basePaths } from './base-paths.js';
import type { paths as BlockchainPaths } from './blockchain.js';
import type { paths as ClaimPaths } from './claim.js';
import type { paths as EventsPaths } from './events.js';
import type { paths as NewsPaths } from './news.js';
import type { paths as RwaPaths } from './rwa.js';

export type * as blockchain from './blockchain.js';
export type * as claim from './claim.js';
export type * as events from './events.js';
export type * as news from './news.js';
export type * as rwa from './rwa.js';

export type TallystickOptions = Omit<ClientOptions, 'baseUrl' | 'headers'> & {
  /** The address of the service, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** Claims need no key. */
  readonly apiKey?: string;
};

/** A client for each document. Its methods take the paths of that document. */
export type Tallystick = {
  readonly blockchain: Client<BlockchainPaths>;
  readonly claim: Client<ClaimPaths>;
  readonly events: Client<EventsPaths>;
  readonly news: Client<NewsPaths>;
  readonly rwa: Client<RwaPaths>;
};

/** Creates the clients of a service. */
export function createTallystick({ baseUrl, apiKey, ...options }: TallystickOptions): Tallystick {
  const address = baseUrl.replace(/\/+$/, '');
  const key = apiKey === undefined ? {} : { headers: { 'x-api-key': apiKey } };
  return {
    blockchain: createClient({ ...options, ...key, baseUrl: `${address}${basePaths.blockchain}` }),
    claim: createClient({ ...options, baseUrl: `${address}${basePaths.claim}` }),
    events: createClient({ ...options, ...key, baseUrl: `${address}${basePaths.events}` }),
    news: createClient({ ...options, ...key, baseUrl: `${address}${basePaths.news}` }),
    rwa: createClient({ ...options, ...key, baseUrl: `${address}${basePaths.rwa}` }),
  };
}
