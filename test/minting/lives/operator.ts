import { findFinalBlock } from '../../../src/chain/finality-store.ts';
import { createMintNode } from '../../../src/chain/minting/mint-node.ts';
import { setArchived } from '../../../src/rwa/assets/rwa-change-store.ts';
import type { MintReason } from '../../../src/rwa/minting/mint-reason.ts';
import { askProbe, listMints, stopLanes } from '../../../src/rwa/operators/remedies/mint-admin-store.ts';
import { cancelMint } from '../../../src/rwa/operators/remedies/mint-cancel.ts';
import type { Proving } from '../../../src/rwa/operators/remedies/mint-proof.ts';
import { releaseMint } from '../../../src/rwa/operators/remedies/mint-release.ts';
import {
  findRequestedMint,
  type RequestedMint,
} from '../../../src/rwa/operators/remedies/mint-remedy-store.ts';
import { retryMint } from '../../../src/rwa/operators/remedies/mint-retry.ts';
import { recoverNetwork } from '../../../src/rwa/operators/remedies/recover.ts';
import { serviceVault } from '../../rwa/samples.ts';
import { admin, chainText, contract } from './constants.ts';
import { abi, minterRole } from './contract.ts';
import { type Process, startProcess } from './process.ts';
import type { World } from './world.ts';

/* Whoever reads why mints do not move, and does what the remedy of the reason says. */

type Remedy = (world: World) => Promise<void> | void;

const wait: Remedy = () => {};

export const fund: Remedy = ({ chain, signers }) => {
  chain.change((state) => {
    const balances = new Map(state.balances);
    for (const signer of signers) balances.delete(signer.toLowerCase());
    return { ...state, balances };
  });
};

/** `tallystick contract grant`, and `mint resume --contract`. */
export const grant: Remedy = async ({ chain, db, signers, state }) => {
  state.probes += 1;
  for (const signer of signers)
    chain.takeFrom(admin, contract.toLowerCase(), abi.encodeFunctionData('grantRole', [minterRole, signer]));
  await askProbe(db, { chainId: chainText, contract });
};

export const resume: Remedy = async ({ db }) => {
  await stopLanes(db, { chainId: chainText, signer: undefined }, false);
};

/** Nodes are repaired: the network has sound ones from now on. */
export const repairNodes: Remedy = ({ nodes }) => {
  for (const node of nodes.all) {
    node.flaws = [];
    node.lie = undefined;
  }
};

export const recover: Remedy = (world) =>
  asOperator(world, async (process, proving) => {
    const { db } = process;
    // The chain may have lost what was final.
    const { network, node, signal } = await proving({ mayLackFinal: true });
    const run = { db, network, node, vault: serviceVault, signers: world.signers, signal, onProgress() {} };
    const { reopened, waiting } = await recoverNetwork(run, ({ kind, mended }) =>
      world.tell(`  recovery: ${kind}${mended ? '' : ', for a person'}`),
    );
    world.tell(`  recovery: ${reopened} transactions lost, ${waiting} mints not final`);
  });

export const restartWorkers: Remedy = async (world) => {
  await Promise.all([...world.workers].map((worker) => worker.stop()));
  await world.startWorker();
};

const staff: Remedy = async (world) => {
  if (world.workers.length === 0) await world.startWorker();
};

const releaseNoted =
  (reason: MintReason): Remedy =>
  async (world) => {
    const nftIds: string[] = await world.db('mint_notes').where({ reason }).orderBy('nft_id').pluck('nft_id');
    for (const nftId of nftIds) await act(world, nftId, 'release');
  };

/** Every reason has a remedy here but the last resort, which is a fault. */
const remedies: Readonly<Record<Exclude<MintReason, 'unexplained'>, Remedy>> = {
  operator: resume,
  fee_above_cap: ({ chain }) => chain.setBaseFee(10n ** 9n),
  balance_too_low: fund,
  foreign_nonce: repairNodes,
  contract_refuses: grant,
  contract_unanswered: repairNodes,
  contract_nonsense: releaseNoted('contract_nonsense'),
  evidence_unavailable: repairNodes,
  history_searched: wait,
  history_unavailable: repairNodes,
  broadcast_refused: repairNodes,
  left_out: wait,
  nonce_gap: wait,
  finality_unknown: repairNodes,
  chain_rolled_back: recover,
  nodes_disagree: repairNodes,
  recovery_needed: recover,
  database_went_back: async (world) => {
    await recover(world);
    await restartWorkers(world);
  },
  no_signer: staff,
  signer_unavailable: wait,
  no_worker: staff,
  nodes_unavailable: repairNodes,
  no_new_blocks: ({ state }) => {
    state.isMining = true;
  },
};

type Action = 'release' | 'retry' | 'cancel';

const actions: Readonly<Record<Action, (proving: Proving, mint: RequestedMint) => Promise<unknown>>> = {
  release: releaseMint,
  retry: retryMint,
  cancel: cancelMint,
};

/** Runs a command about an NFT. @returns what it answered, in words */
export async function act(world: World, nftId: string, action: Action): Promise<string> {
  let said = 'nothing to do';
  // What a node that lags or lies shows of it is something else.
  const { owners } = world.chain.finalized()?.state.contract ?? { owners: new Map<string, string>() };
  const isPlain = world.nodes.all.every(({ flaws, lie }) => flaws.length === 0 && lie === undefined);
  await asOperator(world, async ({ db }, proving) => {
    const mint = await findRequestedMint(db, nftId);
    if (mint === undefined) return;
    if (action === 'retry' && mint.state !== 'failed') return;
    if (action === 'cancel' && (mint.state === 'submitted' || mint.transaction !== null)) return;
    const refused = await actions[action](await proving(), mint);
    if (action === 'cancel' && refused === undefined && isPlain && owners.has(mint.tokenId))
      world.trespasses.note(`token ${mint.tokenId} has an owner, and its mint is cancelled`);
    said = JSON.stringify(refused ?? 'done');
  });
  world.tell(`  mint ${action} ${await world.nameOf(nftId)}: ${said.slice(0, 120)}`);
  return said;
}

/** Opens what a command needs. What it fails with is told, as people would see it. */
async function asOperator(
  world: World,
  work: (
    process: Process,
    proving: (may?: { readonly mayLackFinal: true }) => Promise<Proving>,
  ) => Promise<void>,
): Promise<void> {
  const process = await startProcess(world, 'operator');
  const { db, networks, clients } = process;
  try {
    await work(process, async (may) => {
      const network = await networks.find(chainText);
      if (network === undefined) throw new Error('the network is gone');
      const known = may?.mayLackFinal ? undefined : await findFinalBlock(db, chainText);
      const pinned = await clients.pool(network).pin({ ...network, known });
      const fault = pinned.disagreement ?? pinned.finalityUnknown?.why;
      if (fault !== undefined) throw new Error(`Nothing can be proven: ${fault}`);
      const node = createMintNode(pinned.provider, pinned);
      const { signal } = new AbortController();
      return { db, network, node, signal, onProgress() {}, async onChange() {} };
    });
  } catch (error) {
    world.tell(`  operator: ${error instanceof Error ? error.message.slice(0, 200) : error}`);
  } finally {
    await process.close();
  }
}

/** Does what the remedies of all reasons say. @returns the reasons */
export async function followRemedies(world: World): Promise<readonly string[]> {
  const waiting = await listMints(world.db, {
    states: ['queued', 'submitted'],
    chainId: undefined,
    limit: 100,
  });
  const lanes: string[] = await world.db('mint_lanes').whereNotNull('pause_reason').pluck('pause_reason');
  const recoveries = await world.db('mint_recoveries');
  const told = waiting.flatMap(({ reason }) => reason ?? []);
  const reasons = [
    ...new Set([...told, ...lanes, ...(recoveries.length > 0 ? ['recovery_needed'] : [])]),
  ].sort();
  for (const reason of reasons) {
    const remedy = (remedies as Readonly<Record<string, Remedy | undefined>>)[reason];
    world.tell(`operator: ${reason}${remedy === undefined ? ', which has no remedy' : ''}`);
    await remedy?.(world);
  }
  return reasons;
}

/** Puts RWAs back, and has mints tried again that failed, or cancels those that may be. */
export async function retryFailed(world: World): Promise<void> {
  const archived = await world.db('rwas').whereNotNull('archived_at').orderBy('number');
  for (const { id, company_id: companyId } of archived)
    await world.db.transaction((tx) => setArchived(tx, { id, companyId }, false));
  const failed: string[] = await world
    .db('nfts')
    .where({ mint_state: 'failed' })
    .orderBy('created_at')
    .pluck('id');
  for (const nftId of failed) {
    if (world.plan.seed % 2 === 0) await act(world, nftId, 'cancel');
    await act(world, nftId, 'retry');
  }
}
