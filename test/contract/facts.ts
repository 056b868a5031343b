import type { components as Blockchain } from '../../src/contract/generated/blockchain.ts';
import type { components as Rwa } from '../../src/contract/generated/rwa.ts';
import { type Session, Unprovoked } from './session.ts';

type RwaRecord = Rwa['schemas']['Rwa'];
type Nft = Rwa['schemas']['Nft'];

/** What there is on a deployment to try the cases with, found out through the API itself. */
export type Facts = ReturnType<typeof createFacts>;

// Of no meaning here but that it is a wallet with a history on the main public networks.
const wellKnownWallet = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';

/** @throws Unprovoked from each when there is no such thing, with what would help */
export function createFacts(session: Session) {
  const { given } = session;

  const rwa = (query: string, about: string) =>
    once(async (): Promise<RwaRecord> => {
      const { rwas } = await session.ask<{ rwas: RwaRecord[] }>('listRwas', { query: `${query}limit=1` });
      return found(rwas[0], `the company has no ${about}`);
    });
  const anyRwa = rwa('', 'RWA');
  const mintableRwa = once(async (): Promise<RwaRecord> => {
    const { rwas } = await session.ask<{ rwas: RwaRecord[] }>('listRwas', { query: 'isClaimable=true' });
    const isThere = ({ chainId }: RwaRecord) =>
      given.chainId === undefined || String(chainId) === given.chainId;
    return found(rwas.find(isThere), 'the company has no RWA that is claimable');
  });
  const unclaimableRwa = rwa('isClaimable=false&', 'RWA that is not claimable');

  const nft = (claimed: boolean, key: () => string, about: string) =>
    once(async (): Promise<Nft & { readonly rwa: RwaRecord }> => {
      const query = `claimed=${claimed}&limit=1`;
      const path = `/v1/api/nft?${query}`;
      const nfts = await session.ask<(Nft & { rwa: RwaRecord })[]>('listNfts', { path, key: key() });
      return found(nfts[0], about);
    });
  const mintedNft = nft(true, () => session.keys.own, 'the company has no NFT that is minted');

  const chainId = once(async () => given.chainId ?? String((await anyRwa()).chainId));
  const wallet = once(async () => {
    if (given.wallet !== undefined) return given.wallet;
    return mintedNft().then(
      ({ recipient }) => recipient ?? wellKnownWallet,
      () => wellKnownWallet,
    );
  });

  const unclaimedNft = nft(false, () => session.keys.own, 'the company has no NFT that is not minted');

  return {
    unclaimedNft,
    anyRwa,
    mintableRwa,
    unclaimableRwa,
    mintedNft,
    chainId,
    wallet,
    /** Of the other company. */
    foreignNft: once(async () => {
      const { other } = session.keys;
      if (other === undefined) throw new Unprovoked('needs --other-key, of another company that has NFTs');
      const [first] = await session.ask<Nft[]>('listNfts', { path: '/v1/api/nft?limit=1', key: other });
      return found(first, 'the other company has no NFT');
    }),
    /** An ERC-20 contract that the wallet has to do with. */
    token: once(async () => {
      if (given.token !== undefined) return given.token;
      const query = { ids: { chainId: await chainId(), wallet: await wallet() } };
      const { history } = await session.ask<Blockchain['schemas']['WalletHistory']>(
        'getWalletHistory',
        query,
      );
      const [transfer] = history.result.flatMap((record) => record.erc20_transfers);
      return found(transfer?.address, 'the wallet has moved no token: needs --token or another --wallet');
    }),
    /** Made for one case: NFTs cannot be deleted, so only with leave to write. */
    newNft: async (rwaId: string): Promise<Nft> => {
      if (!session.mayWrite) throw new Unprovoked('needs --write');
      const { nfts } = await session.ask<{ nfts: Nft[] }>('createRwaNfts', {
        ids: { rwaId },
        body: { count: 1 },
      });
      return found(nfts[0], 'no NFT was made');
    },
  };
}

function found<T>(thing: T | undefined, otherwise: string): T {
  if (thing === undefined) throw new Unprovoked(otherwise);
  return thing;
}

/** Asked at most once. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}
