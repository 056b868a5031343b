import { Wallet } from 'ethers';
import type { MintStep } from '../../src/rwa/mint-worker/context/lane-context.ts';
import { of } from '../support/node/flaw.ts';
import { lieNames } from '../support/node/lies.ts';
import { broadcastOutages } from '../support/node/outages.ts';
import { leadsTo } from '../support/node/wrongs.ts';
import { compileContracts } from '../support/solidity.ts';
import { clockFaults } from './clock-faults.ts';
import { delegationFaults } from './delegation-faults.ts';
import { type ContractCodes, type Fault, plenty, type Scene } from './fault-scene.ts';
import type { MintSetup } from './mint-setup.ts';
import type { SequenceNetwork } from './node-qualities.ts';
import { restoreFaults } from './restore-faults.ts';

/** Reads the codes. A call that creates a contract returns the code that it would have, and changes nothing. */
export async function readCodes({ call, contract }: MintSetup['chain']): Promise<ContractCodes> {
  const contracts = await compileContracts();
  const codeOf = (name: string) => call<string>('eth_call', { data: contracts[name]?.bytecode }, 'latest');
  const [own, idle, generous] = await Promise.all([
    call<string>('eth_getCode', contract, 'latest'),
    codeOf('Idle'),
    codeOf('Generous'),
  ]);
  return { own, idle, generous };
}

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

/** Worker processes that end, hang, or are too many. */
const workerFaults: readonly Fault[] = [
  async ({ setup, chance }) => {
    const killAt = { step: chance.of(steps), times: 1 + chance.below(3) };
    setup.work(killAt, { MINT_STUCK_BLOCKS: '2' });
    return `worker that dies at ${killAt.step} ${killAt.times}`;
  },
  async ({ setup }) => {
    setup.work(undefined, { MINT_STUCK_BLOCKS: '2' });
    return 'worker';
  },
  async ({ setup }) => {
    await setup.killAll();
    return 'kill -9';
  },
  async ({ setup }) => {
    const [oldest] = setup.running();
    oldest?.child.kill('SIGTERM');
    return 'stop a worker in order';
  },
  async ({ setup, chance }) => {
    const workers = [undefined, ...setup.running()];
    // Drawn from as many at all times, so that the seed decides what comes after.
    const worker = workers[chance.below(60) % workers.length];
    // Its lease passes to another meanwhile, and it does not know.
    worker?.child.kill('SIGSTOP');
    return 'freeze a worker';
  },
  async ({ setup }) => {
    for (const { child } of setup.running()) child.kill('SIGCONT');
    return 'thaw workers';
  },
];

/** The chain and the node in front of it. */
const chainFaults: readonly Fault[] = [
  async ({ chance, network }) => {
    const lie = chance.of(lieNames);
    const at = chance.below(network.nodes.length);
    network.nodes[at]?.lie(lie);
    return `node ${at + 1}: ${lie}`;
  },
  async ({ network }) => {
    endLies(network);
    return 'nodes: what they can';
  },
  async ({ setup, chance }) => {
    const blocks = 1 + chance.below(3);
    await setup.chain.mine(blocks);
    return `mine ${blocks}`;
  },
  async ({ setup, chance }) => {
    // Two blocks lie on what is final; the confirmations are two as well.
    const depth = 1 + chance.below(2);
    await setup.chain.call('anvil_reorg', depth, []).catch(() => {});
    return `reorganise ${depth}`;
  },
  async ({ setup }) => {
    await setup.chain.call('anvil_dropAllTransactions');
    return 'drop transactions';
  },
  async ({ setup, chance }) => {
    const on = chance.of([true, false]);
    await setup.chain.call('evm_setAutomine', on);
    return `blocks on demand: ${on}`;
  },
  async ({ setup, chance }) => {
    const gwei = chance.of([1, 5, 40]);
    await setup.chain.call('anvil_setNextBlockBaseFeePerGas', `0x${(gwei * 1e9).toString(16)}`);
    return `base fee ${gwei} gwei`;
  },
];

/** Prices, and other chains, in the place of those before. */
const marketFaults: readonly Fault[] = [
  async ({ setup, chance }) => {
    const course = chance.of(['rising', 'falling', 'spike'] as const);
    const most = BigInt(chance.of([10, 60, 200]));
    setup.chain.market.follow(course, { most: most * 1_000_000_000n });
    return `base fee ${course}, up to ${most} gwei`;
  },
  async ({ setup }) => {
    await setup.chain.market.calm();
    return 'base fee calm';
  },
];

const otherChainFaults: readonly Fault[] = [
  async ({ setup, chance, network }) => {
    const other = await setup.otherChain();
    const at = chance.below(network.nodes.length);
    network.nodes[at]?.setFlaws(leadsTo(other.rpcUrl));
    return `node ${at + 1} leads to another chain`;
  },
];

/** Nodes that answer everything, and reject every transaction in words that are about no price. */
const broadcastFaults: readonly Fault[] = [
  async ({ chance, network }) => {
    const { name, reply } = chance.of(broadcastOutages);
    const refusing = chance.of([network.nodes, [chance.of(network.nodes)]]);
    for (const node of refusing) node.lie(of('eth_sendRawTransaction', () => reply));
    return `broadcasts refused by ${refusing.length} of ${network.nodes.length} nodes: ${name}`;
  },
];

/** Contracts that do not do what they are asked for, and a chain that does not keep what was final. */
const brokenPromises: readonly Fault[] = [
  async ({ setup, codes, happened }) => {
    happened.hasOddContract = true;
    await setup.chain.call('anvil_setCode', setup.chain.contract, codes.idle);
    return 'contract that mints nothing';
  },
  async ({ setup, codes, happened }) => {
    happened.hasOddContract = true;
    await setup.chain.call('anvil_setCode', setup.chain.contract, codes.generous);
    return 'contract that mints one token more';
  },
  async ({ setup, codes }) => {
    await setup.chain.call('anvil_setCode', setup.chain.contract, codes.own);
    return 'contract as it was';
  },
  async ({ setup, chance, network, base, happened }) => {
    const depth = 3 + chance.below(6);
    // Which of two chains is the right one is not for nodes to decide that were not both there.
    if (network.isDeceived) return 'no final blocks to lose';
    const head = BigInt(await setup.chain.call<string>('eth_blockNumber'));
    const most = head - base;
    if (most < 3n) return 'no final blocks to lose';
    const lost = Number(most < depth ? most : BigInt(depth));
    await setup.chain.call('anvil_reorg', lost, []);
    happened.hasLostBlocks = true;
    return `lose ${lost} blocks, some of them final`;
  },
];

/** The database, its queue, and people who act at the wrong moment. */
const otherFaults: readonly Fault[] = [
  async ({ setup, chance, ids }) => {
    const count = 1 + chance.below(8);
    ids.push(...(await setup.accept(count)));
    return `accept ${count}`;
  },
  async ({ setup }) => {
    await setup.service.db.raw('TRUNCATE pgboss.job CASCADE');
    return 'wipe the queue';
  },
  async ({ setup }) => {
    await setup.service.db.raw(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    return 'cut every connection to the database';
  },
  async ({ setup, chance, ids }) => {
    const drawn = chance.below(5040);
    const waiting = await setup.service
      .db('nfts')
      .whereIn('id', ids)
      .whereIn('mint_state', ['queued', 'submitted'])
      .orderBy('serial');
    const row = waiting[drawn % waiting.length];
    if (row === undefined) return 'nothing to mint by hand';
    // Whoever comes second is refused by the contract: that is the last guard.
    await setup.chain.mintByHand(row.recipient, row.token_id).catch(() => {});
    return `mint serial ${row.serial} by hand`;
  },
  async ({ setup, chance }) => {
    const signer = chance.of(setup.signers);
    const balance = chance.of(['0x1', plenty]);
    await setup.chain.call('anvil_setBalance', signer, balance);
    return `balance of ${signer} ${balance}`;
  },
  async ({ setup, chance }) => {
    const key = chance.of(setup.chain.keys);
    const block = chance.of(['latest', 'pending']);
    const { address } = new Wallet(key);
    const count = await setup.chain.call<string>('eth_getTransactionCount', address, block);
    await useKey(setup, key, Number(count)).catch(() => {});
    return `somebody else uses nonce ${Number(count)} (${block}) of ${address}`;
  },
];

/** Changes what tokens show, where some exist. @returns whether some do */
export async function changeMetadata({ setup }: Pick<Scene, 'setup'>): Promise<boolean> {
  const { db, as, keys } = setup.service;
  const rwa = await db('rwas').where('claimed_nfts', '>', 0).first('id');
  if (rwa === undefined) return false;
  const description = `Changed at ${performance.now()}`;
  for (let tries = 1; ; tries += 1) {
    const { status, text } = await as(keys.acme).patch(`/v1/api/rwa/${rwa.id}`).send({ description });
    if (status === 200) return true;
    if (status !== 503 || tries === 20) throw new Error(`metadata could not be changed: ${status} ${text}`);
  }
}

/** Metadata that change, once or several times in a row. */
const metadataFaults: readonly Fault[] = [
  async ({ setup, chance }) => {
    const times = 1 + chance.below(3);
    for (let change = 0; change < times; change += 1)
      if (!(await changeMetadata({ setup }))) return 'no metadata to change';
    return `change metadata ${times}`;
  },
];

/** Workers of the oldest release, beside those of this one. */
const releaseFaults: readonly Fault[] = [
  async ({ setup, release }) => {
    if (release !== undefined) setup.workFrom(release);
    return 'worker of the oldest release';
  },
];

/** What the oldest release was made for, which knows neither nodes that are wrong for good nor recoveries. */
const knownToOldestRelease: readonly Fault[] = [
  ...workerFaults,
  ...workerFaults,
  ...chainFaults,
  ...chainFaults,
  ...otherFaults,
];

/** Refused broadcasts, clocks, delegations and restores. */
const remaining: readonly Fault[] = [
  ...broadcastFaults,
  ...broadcastFaults,
  ...clockFaults,
  ...delegationFaults,
  ...restoreFaults,
];

/** Everything that a sequence chooses from; what the workers and the chain do, twice as often. */
export const faultKinds = ({ release }: Pick<Scene, 'release'>): readonly Fault[] =>
  release === undefined
    ? [
        ...knownToOldestRelease,
        ...marketFaults,
        ...otherChainFaults,
        ...remaining,
        ...remaining,
        ...brokenPromises,
        ...brokenPromises,
        ...metadataFaults,
        ...metadataFaults,
      ]
    : [...knownToOldestRelease, ...releaseFaults, ...releaseFaults, ...releaseFaults];

/** Ends lies and other faults for a time; the flaws that nodes have for good stay. */
export function endLies(network: SequenceNetwork): void {
  for (const node of network.nodes) node.lie(undefined);
  network.restore();
}

/** Sends a transaction of no concern to us with one of our nonces, for more than we would pay. */
export async function useKey(setup: MintSetup, key: string, nonce: number): Promise<void> {
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
  await setup.chain.call('eth_sendRawTransaction', raw);
}
