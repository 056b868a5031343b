import { id, Wallet } from 'ethers';
import type { MintStep } from '../../src/rwa/mint-worker/lane-context.ts';
import { lies } from '../support/lying-node.ts';
import type { MintWorld } from './mint-world.ts';

/** What decides how a fault happens; the same seed gives the same choices. */
export type Chance = {
  /** A whole number from 0, below this. */
  below(limit: number): number;
  of<T>(items: readonly T[]): T;
};

/** Lets one thing go wrong, or right again. @returns what it was, in words */
type Fault = (world: MintWorld, chance: Chance, ids: string[]) => Promise<string>;

const steps: readonly MintStep[] = [
  'signed',
  'stored',
  'sent',
  'raise_stored',
  'raise_sent',
  'rebroadcast',
  'mined',
  'confirming',
  'confirmed',
  'reorganised',
  'finalized',
  'released',
  'reverted',
];
const minterRole = id('MINTER_ROLE');
const plenty = '0x56bc75e2d63100000';

/** Worker processes that end, hang, or are too many. */
const workerFaults: readonly Fault[] = [
  async (world, chance) => {
    const killAt = { step: chance.of(steps), times: 1 + chance.below(3) };
    world.work(killAt, { MINT_STUCK_BLOCKS: '2' });
    return `worker that dies at ${killAt.step} ${killAt.times}`;
  },
  async (world) => {
    world.work(undefined, { MINT_STUCK_BLOCKS: '2' });
    return 'worker';
  },
  async (world) => {
    await world.killAll();
    return 'kill -9';
  },
  async (world) => {
    const [oldest] = world.running();
    oldest?.child.kill('SIGTERM');
    return 'stop a worker in order';
  },
  async (world, chance) => {
    const worker = chance.of([undefined, ...world.running()]);
    // Its lease passes to another meanwhile, and it does not know.
    worker?.child.kill('SIGSTOP');
    return 'freeze a worker';
  },
  async (world) => {
    for (const { child } of world.running()) child.kill('SIGCONT');
    return 'thaw workers';
  },
];

/** The chain and the node in front of it. */
const chainFaults: readonly Fault[] = [
  async (world, chance) => {
    const lie = chance.of(lies);
    world.node.lie(lie);
    return `node: ${lie}`;
  },
  async (world) => {
    world.node.lie(undefined);
    return 'node: truth';
  },
  async (world, chance) => {
    const blocks = 1 + chance.below(3);
    await world.chain.mine(blocks);
    return `mine ${blocks}`;
  },
  async (world, chance) => {
    // Two blocks lie on what is final; the confirmations are two as well.
    const depth = 1 + chance.below(2);
    await world.chain.call('anvil_reorg', depth, []).catch(() => {});
    return `reorganise ${depth}`;
  },
  async (world) => {
    await world.chain.call('anvil_dropAllTransactions');
    return 'drop transactions';
  },
  async (world, chance) => {
    const on = chance.of([true, false]);
    await world.chain.call('evm_setAutomine', on);
    return `blocks on demand: ${on}`;
  },
  async (world, chance) => {
    const gwei = chance.of([1, 5, 40]);
    await world.chain.call('anvil_setNextBlockBaseFeePerGas', `0x${(gwei * 1e9).toString(16)}`);
    return `base fee ${gwei} gwei`;
  },
];

/** The database, its queue, and people who act at the wrong moment. */
const otherFaults: readonly Fault[] = [
  async (world, chance, ids) => {
    const count = 1 + chance.below(8);
    ids.push(...(await world.accept(count)));
    return `accept ${count}`;
  },
  async (world) => {
    await world.service.db.raw('TRUNCATE pgboss.job CASCADE');
    return 'wipe the queue';
  },
  async (world) => {
    await world.service.db.raw(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    return 'cut every connection to the database';
  },
  async (world, chance, ids) => {
    const waiting = await world.service
      .db('nfts')
      .whereIn('id', ids)
      .whereIn('mint_state', ['queued', 'submitted'])
      .orderBy('serial');
    if (waiting.length === 0) return 'nothing to mint by hand';
    const row = chance.of(waiting);
    // Whoever comes second is refused by the contract: that is the last guard.
    await world.chain.mintByHand(row.recipient, row.token_id).catch(() => {});
    return `mint serial ${row.serial} by hand`;
  },
  async (world, chance) => {
    const signer = chance.of(world.signers);
    const balance = chance.of(['0x1', plenty]);
    await world.chain.call('anvil_setBalance', signer, balance);
    return `balance of ${signer} ${balance}`;
  },
  async (world, chance) => {
    const key = chance.of(world.chain.keys);
    const block = chance.of(['latest', 'pending']);
    const { address } = new Wallet(key);
    const count = await world.chain.call<string>('eth_getTransactionCount', address, block);
    await useKey(world, key, Number(count)).catch(() => {});
    return `somebody else uses nonce ${Number(count)} (${block}) of ${address}`;
  },
];

/** Everything that a sequence chooses from; what the workers and the chain do, twice as often. */
export const faultKinds: readonly Fault[] = [
  ...workerFaults,
  ...workerFaults,
  ...chainFaults,
  ...chainFaults,
  ...otherFaults,
];

/** Sends a transaction of no concern to us with one of our nonces, for more than we would pay. */
export async function useKey(world: MintWorld, key: string, nonce: number): Promise<void> {
  const wallet = new Wallet(key);
  const raw = await wallet.signTransaction({
    chainId: 31337,
    nonce,
    to: wallet.address,
    gasLimit: 21_000,
    maxFeePerGas: 200_000_000_000n,
    maxPriorityFeePerGas: 100_000_000_000n,
    type: 2,
  });
  await world.chain.call('eth_sendRawTransaction', raw);
}

/** Undoes what would keep anything from being minted for ever. */
export async function setRight(world: MintWorld): Promise<void> {
  world.node.lie(undefined);
  for (const { child } of world.running()) child.kill('SIGCONT');
  for (const signer of world.signers) {
    await world.chain.call('anvil_setBalance', signer, plenty);
    await world.chain.admin('grantRole', minterRole, signer);
  }
}
