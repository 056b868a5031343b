import { createOutgoing } from '../../../src/outgoing/outgoing.ts';
import { createMoralisClient } from '../../../src/providers/moralis/client.ts';
import { createMoralisProvider } from '../../../src/providers/moralis/moralis-provider.ts';
import { describeDataProvider } from '../../suites/data-provider.ts';
import { history, nfts, wallet } from '../../support/moralis-payloads.ts';
import { startMoralisServer } from '../../support/moralis-server.ts';
import { testNetwork } from '../../support/networks.ts';

describeDataProvider('moralis', async () => {
  const server = await startMoralisServer({
    histories: { [`0x7a69:${wallet}`]: history },
    nfts: { [`0x7a69:${wallet}`]: nfts },
  });
  const { baseUrl, apiKey } = server;
  const client = createMoralisClient({
    baseUrl,
    apiKey,
    timeoutMs: 5_000,
    deadlineMs: 5_000,
    concurrency: 4,
    outgoing: createOutgoing(),
  });
  return {
    provider: createMoralisProvider({ client }),
    network: testNetwork([], { dataProvider: 'moralis' }),
    wallet,
    hashes: history.map((record) => String(record['hash'])),
    nfts: nfts.map(({ token_address: contract, token_id: id, amount = '1' }) =>
      `${contract}/${id}/${amount}`.toLowerCase(),
    ),
    stranger: `0x${'5'.repeat(40)}`,
    close: server.close,
  };
});
