import { history, nft, nfts, transaction, wallet } from '../support/moralis-payloads.ts';
import { type MoralisServer, startMoralisServer } from '../support/moralis-server.ts';
import { type Client, startService, type TestService } from '../support/service.ts';

const hostedBusy = '0xb5500000000000000000000000000000000000b5';
export const stranger = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
/** The same with its EIP-55 checksum. */
export const checksummed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

type Changes = Readonly<Record<string, string>>;

/** A list of wallets over one data provider. */
export type ListSetup = {
  readonly service: TestService;
  readonly chainId: string;
  /** Of a registered network with another data provider. */
  readonly otherChainId: string;
  /** Has 120 transactions and 120 NFTs, more than a page. */
  readonly busy: string;
  /** Asks for the list of a quiet wallet on the network, with these changes to the query. */
  get(changes?: Changes): ReturnType<Client['get']>;
  /** What somebody outside was asked since the last `forget`. */
  asked(): readonly { readonly path: string }[];
  forget(): void;
  close(): Promise<void>;
};

/** Over the hosted upstream, which is network 1. */
export type HostedListSetup = ListSetup & { readonly server: MoralisServer };

/** The service with a hosted data provider behind network 1, and a way to ask for one of its lists. */
export async function startHostedLists(path: string): Promise<HostedListSetup> {
  const numbers = Array.from({ length: 120 }, (_, index) => index + 1);
  const server = await startMoralisServer({
    histories: {
      [`0x1:${wallet}`]: history,
      [`0x1:${hostedBusy}`]: numbers.map((number) => transaction(number, { from_address: hostedBusy })),
    },
    nfts: {
      [`0x1:${wallet}`]: nfts,
      [`0x1:${hostedBusy}`]: numbers.map((id) => nft(id, { owner_of: hostedBusy })),
    },
  });
  const service = await startService({ moralis: server });
  const ask = (query: string) => service.as(service.keys.noCompany).get(`${path}?${query}`);
  return {
    server,
    service,
    chainId: '1',
    otherChainId: '31337',
    busy: hostedBusy,
    asked: () => server.asked,
    forget: () => server.forget(),
    get: (changes = {}) => ask(new URLSearchParams({ address: wallet, chainId: '1', ...changes }).toString()),
    async close() {
      await service.close();
      await server.close();
    },
  };
}
