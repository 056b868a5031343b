import { history, nft, nfts, transaction, wallet } from '../support/moralis-payloads.ts';
import { type MoralisServer, startMoralisServer } from '../support/moralis-server.ts';
import { type Client, startService, type TestService } from '../support/service.ts';

/** Has 120 transactions and 120 NFTs, more than a page. */
export const busy = '0xb5500000000000000000000000000000000000b5';
export const stranger = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
/** The same with its EIP-55 checksum. */
export const checksummed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

type Changes = Readonly<Record<string, string>>;

export type World = {
  /** The hosted upstream behind network 1. */
  readonly server: MoralisServer;
  readonly service: TestService;
  /** Asks for the list of the wallet on network 1, with these changes to the query. */
  get(changes?: Changes): ReturnType<Client['get']>;
  /** Asks with this query and no other. */
  ask(query: string): ReturnType<Client['get']>;
  close(): Promise<void>;
};

/** The service with a hosted data provider behind network 1, and a way to ask for one of its lists. */
export async function startWorld(path: string): Promise<World> {
  const numbers = Array.from({ length: 120 }, (_, index) => index + 1);
  const server = await startMoralisServer({
    histories: {
      [`0x1:${wallet}`]: history,
      [`0x1:${busy}`]: numbers.map((number) => transaction(number, { from_address: busy })),
    },
    nfts: { [`0x1:${wallet}`]: nfts, [`0x1:${busy}`]: numbers.map((id) => nft(id, { owner_of: busy })) },
  });
  const service = await startService({ moralis: server });
  const ask = (query: string) => service.as(service.keys.noCompany).get(`${path}?${query}`);
  return {
    server,
    service,
    ask,
    get: (changes = {}) => ask(new URLSearchParams({ address: wallet, chainId: '1', ...changes }).toString()),
    async close() {
      await service.close();
      await server.close();
    },
  };
}
