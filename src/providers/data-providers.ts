import type { DataProviderName } from '../chain/network.ts';
import type { Config } from '../config.ts';
import { createMoralisClient } from './moralis/client.ts';
import { createMoralisProvider } from './moralis/moralis-provider.ts';
import type { DataProvider } from './provider.ts';

/** The data providers that this process can ask. */
export type DataProviders = Readonly<Partial<Record<DataProviderName, DataProvider>>>;

/** The data providers that the settings give. */
export function createDataProviders(config: Config): DataProviders {
  const client = createMoralisClient({
    baseUrl: config.MORALIS_BASE_URL,
    apiKey: config.MORALIS_API_KEY,
    timeoutMs: config.MORALIS_TIMEOUT_MS,
    deadlineMs: config.MORALIS_DEADLINE_MS,
    concurrency: config.MORALIS_CONCURRENCY,
  });
  return { moralis: createMoralisProvider({ client }) };
}
