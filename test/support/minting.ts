import { Contract, id, JsonRpcProvider, Wallet, ZeroAddress } from 'ethers';
import artefact from '../../src/chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };
import { createParts } from '../../src/compose/parts.ts';
import { createMinter } from '../../src/compose/worker.ts';
import type { OnStep } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { startChain, type TestChain } from './chain.ts';
import { asUser } from './database.ts';
import { callNode, deployer, deployNft } from './deploy.ts';
import { createFeeMarket, type FeeMarket } from './fee-market.ts';
import { startService, type TestService } from './service.ts';
import { strain } from './strain.ts';

export type MintChain = TestChain & {
  /** The address of the NFT contract, with EIP-55 checksum. */
  readonly contract: string;
  /** Private keys of accounts that may mint and have funds. */
  readonly keys: readonly string[];
  call<T>(method: string, ...params: unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
  /** Drives the base fee of blocks that {@link mine} makes. */
  readonly market: FeeMarket;
  /** Transfers from the zero address on the current chain, by token id. */
  mints(): Promise<Map<string, { to: string; hash: string; block: string }[]>>;
  /** Ranges of tokens whose changed metadata a contract reports on the current chain, in order (ERC-4906). */
  refreshes(ofContract?: string): Promise<{ from: string; to: string; hash: string }[]>;
  /** Calls the contract as its administrator. */
  admin(method: string, ...args: unknown[]): Promise<void>;
  /** Mints a token from outside of the service. */
  mintByHand(to: string, tokenId: string): Promise<void>;
  /** Transfers a token as its owner does. */
  transferAs(owner: string, to: string, tokenId: string): Promise<void>;
};

/**
 * Starts a chain with the NFT contract and minters. A block is final once it has two blocks above it.
 * @param secondsBehind how far its clock is behind that of this machine
 */
export async function startMintChain({ minters = 1, secondsBehind = 0 } = {}): Promise<MintChain> {
  const start = Math.floor(Date.now() / 1_000) - secondsBehind;
  const clock = secondsBehind === 0 ? [] : ['--timestamp', String(start)];
  const chain = await startChain({ flags: ['--slots-in-an-epoch', '1', '--order', 'fifo', ...clock] });
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1, polling: true });
  const keys = Array.from({ length: minters }, () => Wallet.createRandom().privateKey);
  const nft = await deployNft(
    provider,
    keys.map((key) => new Wallet(key).address),
  );
  const contract = await nft.getAddress();
  const call = <T>(method: string, ...params: unknown[]) => callNode<T>(chain.rpcUrl, method, params);
  const market = createFeeMarket(call);
  // Finalizes the setup, so that no reorganisation in a test removes the contract or a role.
  await call('anvil_mine', '0x5');
  return {
    ...chain,
    contract,
    keys,
    call,
    market,
    async mine(blocks = 1) {
      for (let mined = 0; mined < blocks; mined += 1) {
        await market.beforeBlock();
        await call('anvil_mine', '0x1');
      }
    },
    async mints() {
      const logs = await nft.queryFilter(nft.filters['Transfer']?.(ZeroAddress) ?? 'Transfer');
      const found = new Map<string, { to: string; hash: string; block: string }[]>();
      for (const log of logs) {
        const [, to, tokenId] = nft.interface.parseLog(log)?.args ?? [];
        const all = found.get(String(tokenId)) ?? [];
        found.set(String(tokenId), [
          ...all,
          { to, hash: log.transactionHash, block: String(log.blockNumber) },
        ]);
      }
      return found;
    },
    async refreshes(ofContract = contract) {
      const logs = await new Contract(ofContract, artefact.abi, provider).queryFilter('BatchMetadataUpdate');
      return logs.map((log) => {
        const [from, to] = nft.interface.parseLog(log)?.args ?? [];
        return { from: String(from), to: String(to), hash: log.transactionHash };
      });
    },
    async admin(method, ...args) {
      await nft.getFunction(method)(...args);
    },
    async mintByHand(to, tokenId) {
      await nft.getFunction('grantRole')(id('MINTER_ROLE'), deployer);
      await nft.getFunction('mint')(to, tokenId);
    },
    async transferAs(owner, to, tokenId) {
      await call('anvil_setBalance', owner, '0x56bc75e2d63100000');
      await call('anvil_impersonateAccount', owner);
      const data = nft.interface.encodeFunctionData('transferFrom', [owner, to, tokenId]);
      await call('eth_sendTransaction', { from: owner, to: contract, data });
      await call('anvil_mine', '0x1');
      await call('anvil_stopImpersonatingAccount', owner);
    },
    async close() {
      provider.destroy();
      await chain.close();
    },
  };
}

/** What makes a worker react quickly. */
const quick = {
  mintPollMs: 50,
  mintRebroadcastMs: 300,
  mintLeaseSeconds: 2,
  mintStandstillSeconds: Math.round(8 * strain()),
};

/** Starts a service on the chain. Nothing is minted until a worker starts. */
export async function startMintService(
  chain: MintChain,
  settings: Record<string, string> = {},
  postgresUrl?: string,
) {
  const service = await startService({
    rpcUrl: chain.rpcUrl,
    settings,
    fixed: quick,
    databaseUser: 'test_minting',
    postgresUrl,
  });
  await service.db('mint_lanes').delete();
  await service.db('networks').update({ minter_contract: chain.contract, confirmations: 2 });
  await service
    .db('mint_lanes')
    .insert(chain.keys.map((key) => ({ chain_id: chain.chainId, signer: new Wallet(key).address })));
  return service;
}

/** Starts a worker in this process with the settings of a service, and with the rights of a worker alone. */
export async function startWorker(service: TestService, chain: MintChain, step?: OnStep) {
  const opened = new AsyncDisposableStack();
  const DATABASE_URL = asUser(service.databaseUrl, 'test_worker');
  // It opens no secrets, and some rows of tests have none.
  const config = { ...service.parts.config, DATABASE_URL, SECRET_KEYS: undefined };
  const parts = await createParts(config, service.parts.log, opened);
  const minter = createMinter(parts, {
    plainSigners: chain.keys.map((privateKey) => ({ chainId: chain.chainId, privateKey })),
    ...(step && { step }),
  });
  await minter.start();
  await parts.jobs.work({ scheduled: [], keyed: [minter.job] });
  return {
    ...minter,
    async stop() {
      await Promise.all([parts.jobs.stop(5_000), minter.stop()]);
      await opened.disposeAsync();
    },
  };
}

/** Checks that each of these NFTs is minted once and that every row agrees with the chain. @returns the errors */
export async function faults(
  service: TestService,
  chain: MintChain,
  nftIds: readonly string[],
): Promise<string[]> {
  const mints = await chain.mints();
  const rows = await service.db('nfts').whereIn('id', [...nftIds]);
  const found = rows.flatMap((row) => {
    const onChain = mints.get(row.token_id) ?? [];
    const about = `NFT ${row.serial} (${row.mint_state})`;
    if (row.mint_state !== 'minted') return [`${about} is not minted: ${row.mint_error}`];
    if (onChain.length !== 1) return [`${about} has ${onChain.length} mints`];
    const [mint] = onChain;
    const says = [row.recipient, row.minted_tx, row.minted_block].join(' ');
    return says === [mint?.to, mint?.hash, mint?.block].join(' ') ? [] : [`${about} says ${says}`];
  });
  const counts = await service
    .db('rwas')
    .select(
      'id',
      'claimed_nfts',
      service.db.raw(
        "(SELECT count(*) FROM nfts WHERE rwa_id = rwas.id AND mint_state = 'minted') AS minted",
      ),
    );
  return [
    ...found,
    ...(rows.length === nftIds.length ? [] : [`${rows.length} rows of ${nftIds.length}`]),
    ...counts
      .filter((row) => row.claimed_nfts !== row.minted)
      .map((row) => `RWA ${row.id} counts ${row.claimed_nfts} of ${row.minted}`),
    ...(await transactionFaults(service, chain)),
  ];
}

type ChainReceipt = { readonly status: string; readonly blockNumber: string; readonly blockHash: string };

/** Lists the differences between the rows of transactions and the chain. */
async function transactionFaults({ db }: TestService, chain: MintChain): Promise<string[]> {
  const rows = await db('mint_transactions as t')
    .join('mint_attempts as a', 'a.transaction_id', 't.id')
    .select('t.id', 't.signer', 't.nonce', 't.state', 't.mined_hash', 't.block_number', 't.block_hash')
    .select(db.raw('array_agg(a.hash) AS hashes'))
    .groupBy('t.id');
  const judged = rows.map(async ({ hashes, ...row }) => {
    const receipts = await Promise.all(
      hashes.map((hash: string) => chain.call<ChainReceipt | null>('eth_getTransactionReceipt', hash)),
    );
    const wrong = disagreement(row, hashes, receipts);
    return wrong === undefined ? [] : [`nonce ${row.nonce} of ${row.signer} is ${row.state}: ${wrong}`];
  });
  return (await Promise.all(judged)).flat();
}

type TransactionRow = {
  readonly state: string;
  readonly mined_hash: string | null;
  readonly block_number: string | null;
  readonly block_hash: string | null;
};

function disagreement(
  row: TransactionRow,
  hashes: readonly string[],
  receipts: readonly (ChainReceipt | null)[],
): string | undefined {
  const mined = receipts.filter((receipt) => receipt !== null);
  if (row.state === 'submitted') return undefined;
  // A transaction is abandoned only when another one has used its nonce.
  if (row.state === 'lost') return mined.length === 0 ? undefined : 'one of its attempts is on the chain';
  const receipt = receipts[hashes.indexOf(row.mined_hash ?? '')];
  if (!receipt) return 'the attempt that it names is not on the chain';
  const place = `${BigInt(receipt.blockNumber)} ${receipt.blockHash}`;
  if (place !== `${row.block_number} ${row.block_hash}`) return `it is in block ${place}`;
  const isReverted = receipt.status === '0x0';
  return isReverted === (row.state === 'reverted') ? undefined : `its receipt has status ${receipt.status}`;
}

/** Waits until a node has a transaction in its pool that the next block may take. */
export async function untilInPool({ call }: Pick<MintChain, 'call'>): Promise<void> {
  const pending = async () => BigInt((await call<{ pending: string }>('txpool_status')).pending);
  await until('the node has it', async () => (await pending()) > 0n);
}

/** Polls until the condition holds, because neither the chain nor the worker notifies; longer on a busy machine. */
export async function until(what: string, holds: () => Promise<boolean>, seconds = 20): Promise<void> {
  const deadline = performance.now() + seconds * strain() * 1_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen within ${seconds} s`);
    await new Promise((next) => setTimeout(next, 25));
  }
}

/** Waits until all of these NFTs have the state. */
export const untilAll = (service: TestService, ids: readonly string[], state: string, seconds?: number) =>
  until(
    `${ids.length} NFTs ${state}`,
    async () => {
      const [row] = await service
        .db('nfts')
        .whereIn('id', [...ids])
        .where('mint_state', state)
        .count();
      return Number(row?.['count']) === ids.length;
    },
    seconds,
  );
