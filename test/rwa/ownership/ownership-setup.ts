import { Contract, getAddress, JsonRpcProvider, ZeroAddress } from 'ethers';
import { createLogWidth } from '../../../src/chain/minting/log-scan.ts';
import { createDatabase } from '../../../src/db/connection/connect.ts';
import { followTransfers, type OnLedgerStep } from '../../../src/rwa/ownership/follow.ts';
import { takeSnapshots } from '../../../src/rwa/ownership/take-snapshots.ts';
import { startChain } from '../../support/chain.ts';
import { asUser } from '../../support/database.ts';
import { callNode, deploy } from '../../support/deploy.ts';
import { test as base, perFile } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';
import type { ServiceOptions } from '../../support/serving.ts';
import { compileContracts } from '../../support/solidity.ts';
import { addNft, addNfts, addRwa, serviceVault } from '../samples.ts';

export const wallets = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
] as const;

export type TokenChain = Awaited<ReturnType<typeof startTokenChain>>;

/** Starts a chain with a contract whose tokens anybody may mint, move and burn. A block is final with two blocks above it. */
async function startTokenChain() {
  const chain = await startChain({ flags: ['--slots-in-an-epoch', '1', '--order', 'fifo'] });
  const { Restless } = await compileContracts();
  if (Restless === undefined) throw new Error('no such contract');
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1, polling: true });
  const signer = await provider.getSigner(0);
  const call = <T>(method: string, ...params: unknown[]) => callNode<T>(chain.rpcUrl, method, params);
  const deployToken = async () => getAddress(await deploy(chain.rpcUrl, Restless));
  const first = new Contract(await deployToken(), Restless.abi, signer);
  return {
    ...chain,
    call,
    deployToken,
    contract: await first.getAddress(),
    /** Sends a transaction to the contract, which makes a block. */
    async send(method: string, ...args: unknown[]) {
      const sent = await first.getFunction(method)(...args);
      await sent.wait();
    },
    mine: (blocks = 1) => call('anvil_mine', `0x${blocks.toString(16)}`),
    /** Replaces so many of the newest blocks by empty ones. */
    reorganise: (depth: number) => call('anvil_reorg', depth, []),
    head: async () => BigInt(await call<string>('eth_blockNumber')),
    ownerOf: async (tokenId: string) =>
      first
        .getFunction('ownerOf')(tokenId)
        .then((owner: string) => owner)
        .catch(() => null),
    /** Reads every event of the contract up to a block and works out who has which tokens. */
    async holders(to?: bigint) {
      const filter = first.filters['Transfer'];
      const owners = new Map<string, string>();
      for (const log of await first.queryFilter(
        filter ?? 'Transfer',
        0,
        to === undefined ? 'latest' : Number(to),
      )) {
        const [, owner, id] = first.interface.parseLog(log)?.args ?? [];
        owners.set(String(id), String(owner));
      }
      const held = new Map<string, string[]>();
      for (const [id, owner] of owners) {
        if (owner !== ZeroAddress) held.set(owner, [...(held.get(owner) ?? []), id]);
      }
      return held;
    },
    async close() {
      provider.destroy();
      await chain.close();
    },
  };
}

/** The test function with a chain of tokens, and a service that knows it. Nothing is read until {@link follow}. */
export const test = base
  .extend('network', perFile, 'local')
  .extend('tokens', perFile, async ({ network: _network }, { onCleanup }) => {
    const chain = await startTokenChain();
    onCleanup(() => chain.close());
    return chain;
  })
  .extend(
    'serviceOptions',
    perFile,
    ({ tokens }): ServiceOptions => ({
      rpcUrl: tokens.rpcUrl,
      databaseUser: 'test_minting',
    }),
  )
  .extend('issued', perFile, ({ service, tokens }) => issue(service, tokens.contract, 5));

/** An RWA of acme with NFTs, none of them minted. */
export async function issue({ db, companies }: TestService, contract: string, count: number) {
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: contract });
  return { rwa, nfts: await addNfts(db, serviceVault, rwa, count) };
}

/** The same with one NFT. */
export async function issueOne({ db, companies }: TestService, contract: string) {
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: contract });
  return { rwa, nft: await addNft(db, serviceVault, rwa) };
}

/** Mints NFTs by hand and stores it, as a lane does. */
export async function mint(
  { db }: Pick<TestService, 'db'>,
  chain: TokenChain,
  nfts: readonly { readonly id: string; readonly tokenId: string; readonly rwaId: string }[],
  to: string,
) {
  await chain.send(
    'mintBatch',
    nfts.map(() => to),
    nfts.map(({ tokenId }) => tokenId),
  );
  const block = await chain.call<{ number: string; timestamp: string; transactions: string[] }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  for (const { id, rwaId } of nfts) {
    await db('nfts')
      .where({ id })
      .update({
        mint_state: 'minted',
        recipient: to,
        mint_chain_id: chain.chainId,
        minted_at: new Date(Number(block.timestamp) * 1_000),
        minted_tx: block.transactions[0],
        minted_block: BigInt(block.number).toString(),
      });
    await db('rwas').where({ id: rwaId }).increment('claimed_nfts');
  }
  return BigInt(block.number);
}

/** Polls the network once, and takes the snapshots that are due, as the worker does, with its rights alone. */
export async function follow(
  { parts, databaseUrl }: Pick<TestService, 'parts' | 'databaseUrl'>,
  step?: OnLedgerStep,
  width = createLogWidth(),
  failedSnapshots = new Set<string>(),
) {
  const [network] = await parts.networks.list();
  if (network === undefined) throw new Error('no network');
  const { signal } = new AbortController();
  await using opened = new AsyncDisposableStack();
  const user = asUser(databaseUrl, 'test_worker');
  const db = opened.adopt(createDatabase(user, { poolMax: 5, log: parts.log }), (pool) => pool.destroy());
  const read = await followTransfers({
    db,
    network,
    pinNode: (of, known) => parts.clients.pool(of).pin({ ...of, known }),
    width,
    signal,
    onUnread: (_contract, error) => {
      throw error;
    },
    ...(step && { step }),
  });
  if (read !== undefined) await takeSnapshots({ ...read, db, failed: failedSnapshots, signal });
}
