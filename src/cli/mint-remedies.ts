import { type Command, Option } from 'commander';
import type { MintNode } from '../chain/minting/mint-node.ts';
import type { Database } from '../contract/transaction.ts';
import { findRecipientFault } from '../rwa/minting/accept/recipient.ts';
import { listLanes } from '../rwa/minting/lane-status-store.ts';
import { cancelMint, stillInTransaction } from '../rwa/operators/remedies/mint-cancel.ts';
import { askToFill } from '../rwa/operators/remedies/mint-fill.ts';
import type { OnChange, Proving } from '../rwa/operators/remedies/mint-proof.ts';
import { releaseMint } from '../rwa/operators/remedies/mint-release.ts';
import {
  findRequestedMint,
  isInFlight,
  type RequestedMint,
} from '../rwa/operators/remedies/mint-remedy-store.ts';
import { replaceToken } from '../rwa/operators/remedies/mint-replace.ts';
import { notFailed, retryMint } from '../rwa/operators/remedies/mint-retry.ts';
import { recordByOperator } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { findRegistered } from './shared/find.ts';
import { pinKnownNode, pinOther } from './shared/pinned-node.ts';
import { asOperator, interruptible, type Operator, type Session } from './shared/session.ts';
import { addressValue, chainOption, isUuid } from './shared/values.ts';

const sample = '8a1d0f0e-2f6b-4d35-8d92-5d8a6b0f7c11';

/** What an operator can do about a mint. Each asks the chain first, by one node, whether it may. */
export function addRemedyCommands(mint: Command, session: Session): void {
  addNftCommand(mint, session, {
    name: 'retry',
    about:
      'Queue a failed NFT again, for the same recipient. The mint of its token decides: if somebody else got it, the NFT gets ' +
      'a new token id',
    missing: notFailed,
    refusal: (found, db) => (found.state === 'failed' ? refuseAgain(found, db) : notFailed(found.nftId)),
    async act(proving, found) {
      const retried = await retryMint(proving, found);
      if (typeof retried === 'string') throw new UsageError(retried);
      return retried;
    },
  }).addOption(otherNode());
  addNftCommand(mint, session, {
    name: 'cancel',
    about: 'Cancel a queued or failed mint. The chain must show that nothing minted the NFT',
    refusal: ({ nftId, state, transaction }) =>
      state === 'submitted' || transaction !== null ? stillInTransaction(nftId) : undefined,
    async act(proving, found) {
      refuseIf(await cancelMint(proving, found));
      return { state: 'unclaimed' };
    },
  });
  addNftCommand(mint, session, {
    name: 'replace',
    about: 'Give an NFT a new token id. The final chain must show that its token was minted to somebody else',
    refusal: (found, db) => (isInFlight(found) ? stillInTransaction(found.nftId) : refuseAgain(found, db)),
    async act(proving, found) {
      const replaced = await replaceToken(proving, found);
      if (typeof replaced === 'string') throw new UsageError(replaced);
      return replaced;
    },
  }).addOption(otherNode());
  addReleaseCommand(mint, session);
  addFillCommand(mint, session);
}

// Mints that were accepted before go on.
async function refuseAgain({ nftId, state, isArchived, recipient }: RequestedMint, db: Database) {
  if (state !== 'failed') return undefined;
  if (isArchived)
    return `The RWA of NFT ${nftId} is archived, so nothing of it is minted. Put it back first: tallystick rwa unarchive`;
  const fault = recipient === null ? undefined : await findRecipientFault(db, recipient);
  return fault && `${fault}. Take the mint back: tallystick mint cancel ${nftId}`;
}

function refuseIf(refusal: string | undefined): void {
  if (refusal !== undefined) throw new UsageError(refusal);
}

type NftRemedy = {
  readonly name: string;
  readonly about: string;
  /** Why nothing is done for an NFT without a mint. */
  readonly missing?: (nftId: string) => string;
  /** Why nothing is done about a mint, whatever the chain says. */
  readonly refusal?: (mint: RequestedMint, db: Database) => string | undefined | Promise<string | undefined>;
  /** @returns what has changed */
  act(proving: Proving, mint: RequestedMint): Promise<Record<string, unknown>>;
};

const notRequested = (nftId: string) =>
  `No NFT ${nftId} is queued, submitted or failed. See: tallystick mint list`;

function addNftCommand(mint: Command, session: Session, remedy: NftRemedy): Command {
  const { name, about } = remedy;
  const command = mint
    .command(`${name} <nftId>`)
    .description(about)
    .action((nftId: string, { rpc }: { rpc?: string }) =>
      asOperator(session, (operator) =>
        interruptible(session, 'nothing was changed.', async (signal) => {
          operator.output.record({ nftId, ...(await remedyOne(operator, remedy, { nftId, rpc, signal })) });
        }),
      ),
    );
  return examples(command, `mint ${name} ${sample}`);
}

type Asked = { readonly nftId: string; readonly rpc: string | undefined; readonly signal: AbortSignal };

async function remedyOne(operator: Operator, remedy: NftRemedy, { nftId, rpc, signal }: Asked) {
  const { db, output } = operator;
  const found = isUuid(nftId) ? await findRequestedMint(db, nftId) : undefined;
  if (found === undefined) throw new UsageError((remedy.missing ?? notRequested)(nftId));
  refuseIf(await remedy.refusal?.(found, db));
  const network = await findRegistered(operator, found.chainId);
  const node = await (rpc === undefined ? pinKnownNode(operator, network) : pinOther(operator, network, rpc));
  const progress = output.progress(`Reading ${network.name}`, 'blocks');
  const onChange = entryOf(`mint.${remedy.name}`, nftId);
  const proving = { db, network, node, signal, onProgress: progress.update, onChange };
  return remedy.act(proving, found).finally(progress.stop);
}

/** Stores a change in the audit log, in its transaction. */
const entryOf =
  (action: string, subject: string): OnChange =>
  (tx, details) =>
    recordByOperator(tx, { action, subject, details });

function addReleaseCommand(mint: Command, session: Session): void {
  addNftCommand(mint, session, {
    name: 'release',
    about:
      'Take an NFT out of its transaction. A transaction in flight is signed again without it. For a transaction that ' +
      'has ended, the history of the contract must show what became of the token',
    async act(proving, found) {
      const released = await releaseMint(proving, found);
      if (typeof released !== 'string') throw new UsageError(released.refusal);
      return { state: released };
    },
  }).addOption(otherNode());
}

const otherNode = () => new Option('--rpc <url>', 'node with the history that the nodes of the network lack');

function addFillCommand(mint: Command, session: Session): void {
  const fill = mint
    .command('fill-gap')
    .description(
      'Use the next nonce of a signer for a transfer of nothing to itself. The chain must show that nothing has used it',
    )
    .addOption(chainOption('network of the signer').makeOptionMandatory())
    .option('--signer <address>', 'the signer; required when the network has several', addressValue)
    .action(({ chainId: id, signer }: { chainId: string; signer?: string }) =>
      asOperator(session, async (operator) => {
        const network = await findRegistered(operator, id);
        const lane = await laneOf(operator, id, signer);
        const node: MintNode = await pinKnownNode(operator, network);
        const onChange = entryOf('mint.fill_gap', id);
        const asked = await askToFill({ db: operator.db, network, node, onChange }, lane);
        if (typeof asked === 'string') throw new UsageError(asked);
        operator.output.record({ chainId: id, signer: lane, ...asked });
        operator.output.say('Its worker fills the nonce with its next poll of the chain.');
      }),
    );
  examples(fill, 'mint fill-gap --chain 137');
}

async function laneOf({ db }: Operator, id: string, signer: string | undefined): Promise<string> {
  const lanes = await listLanes(db, { chainId: id, signer });
  const [only, ...others] = lanes;
  if (only === undefined) throw new UsageError('There is no such lane. See: tallystick mint show');
  if (others.length > 0) throw new UsageError('The network has several signers: name one with --signer.');
  return only.signer;
}
