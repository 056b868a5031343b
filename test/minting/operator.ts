import { id } from 'ethers';
import type { MintReason } from '../../src/rwa/minting/mint-reason.ts';
import { plenty, type Scene } from './fault-scene.ts';

// Whoever reads why mints do not move, and does what the remedy of the reason says.

const minterRole = id('MINTER_ROLE');

type Remedy = (scene: Scene) => Promise<void>;

/** The market is not ours to change, but it does not stay so for ever. */
const wait: Remedy = async () => {};

const fund: Remedy = async ({ setup }) => {
  for (const signer of setup.signers) await setup.chain.call('anvil_setBalance', signer, plenty);
};

/** `tallystick network update --rpc` with a node that is sound. On a busy machine that fails, and is done again. */
const replaceNodes: Remedy = async ({ setup }) => {
  await setup.cli.json('network', 'update', setup.chain.chainId, '--rpc', setup.spare.url);
};

/**
 * Whether the network needs no other nodes. A node that has blocks which the chain has lost has the last word. Two nodes must
 * agree on what is final, without which a mint that failed is not tried again.
 */
async function isEnough({ network, happened, setup }: Scene): Promise<boolean> {
  if (!network.mustMint || happened.hasLostBlocks) return false;
  const lane = await setup.service.db('mint_lanes').where({ pause_reason: 'finality_unknown' }).first();
  return lane === undefined;
}

/**
 * `tallystick recover --apply`; where nodes do not let it end, with another node. A node that suffices to mint need not have the
 * history that a recovery reads.
 */
const recover: Remedy = async (scene) => {
  const again = () => scene.setup.cli.json('recover', '--apply');
  const { value } = await again();
  const isRead = value?.failed.length === 0;
  if (isRead && (value.waiting === 0 || (await isEnough(scene)))) return;
  await replaceNodes(scene);
  await again();
};

/** The least tip that a node of a sequence may want, in gwei. */
const leastTip = '3';

/** `tallystick network update --min-tip`; where no node suffices, with another node. */
const raiseTip: Remedy = async (scene) => {
  const { cli, chain } = scene.setup;
  await cli.json('network', 'update', chain.chainId, '--min-tip', leastTip);
  if (!(await isEnough(scene))) await replaceNodes(scene);
};

/** Lets the contract mint; then the next transaction in an hour shows it. */
const repairContract: Remedy = async ({ setup, codes }) => {
  const { chain, service, signers } = setup;
  await chain.call('anvil_setCode', chain.contract, codes.own);
  for (const signer of signers) await chain.admin('grantRole', minterRole, signer);
  await service.db('mint_contracts').update({ probed_at: null });
};

/** Of the NFTs that wait for a reason of their own. */
const ofEach =
  (reason: MintReason, command: string): Remedy =>
  async ({ setup }) => {
    const nftIds: string[] = await setup.service.db('mint_notes').where({ reason }).pluck('nft_id');
    for (const nftId of nftIds) await setup.cli.json('mint', command, nftId);
  };

/** Reasons that say that the nodes are to blame: others are named. */
const nodeReasons = [
  'contract_unanswered',
  'evidence_unavailable',
  'finality_unknown',
  'history_unavailable',
  'no_new_blocks',
  'nodes_disagree',
  'nodes_unavailable',
] as const satisfies readonly MintReason[];
const ofNodes: ReadonlySet<string> = new Set(nodeReasons);

/** Every reason has a remedy here but the last resort, which is a fault in a test. */
type Remedied = Exclude<MintReason, (typeof nodeReasons)[number] | 'unexplained'>;

const remedies = {
  operator: async ({ setup }) => {
    await setup.cli.json('mint', 'resume');
  },
  fee_above_cap: ({ setup }) => setup.chain.market.calm(),
  balance_too_low: fund,
  foreign_nonce: async (scene) => {
    const lane = await scene.setup.service
      .db('mint_lanes')
      .where({ pause_reason: 'foreign_nonce' })
      .whereLike('pause_detail', '%It is not final%')
      .first();
    if (lane !== undefined) await replaceNodes(scene);
  },
  nonce_gap: wait,
  left_out: wait,
  history_searched: wait,
  broadcast_refused: raiseTip,
  contract_refuses: repairContract,
  contract_nonsense: ofEach('contract_nonsense', 'release'),
  recovery_needed: recover,
  database_went_back: recover,
  chain_rolled_back: recover,
  no_signer: async ({ setup }) => void setup.work(),
  no_worker: async ({ setup }) => void setup.work(),
  signer_unavailable: wait,
} satisfies Record<Remedied, Remedy>;

/**
 * Does what the remedy of each reason says. Where a node suffices to mint, those that are wrong stay.
 * @returns the reasons that have no remedy
 */
export async function doRemedies(scene: Scene, reasons: readonly string[]): Promise<string[]> {
  const unknown: string[] = [];
  for (const reason of reasons) {
    const remedy = (remedies as Readonly<Record<string, Remedy | undefined>>)[reason]; // own keys only
    if (ofNodes.has(reason)) await ((await isEnough(scene)) ? wait : replaceNodes)(scene);
    else if (remedy === undefined) unknown.push(reason);
    else await remedy(scene);
  }
  return unknown;
}

const mostTries = 10;

/**
 * Makes everything sound, and has mints that failed tried again: the contract may have been to blame.
 * @returns what is wrong
 */
export async function setRight(scene: Scene): Promise<string[]> {
  const { setup, network, ids } = scene;
  network.setRight();
  await setup.chain.market.calm();
  await fund(scene);
  await repairContract(scene);
  const failed = await setup.service.db('nfts').whereIn('id', ids).where({ mint_state: 'failed' });
  const found: string[] = [];
  for (const { id: nftId, mint_error: why } of failed) {
    const retry = () => setup.cli.json('mint', 'retry', nftId);
    let answer = await retry();
    // 1 says that no node has answered in time.
    for (let tries = 0; answer.status === 1 && tries < mostTries; tries += 1) answer = await retry();
    const { status, error } = answer;
    if (status !== 0)
      found.push(`NFT ${nftId} failed (${why}), and cannot be tried again: ${error?.message}`);
  }
  return found;
}
