import { type Command, Option } from 'commander';
import { listNetworks } from '../chain/network-store.ts';
import { type LaneStatus, listLanes } from '../rwa/minting/lane-status-store.ts';
import { remedyOf } from '../rwa/minting/mint-reason.ts';
import {
  askProbe,
  listAttempts,
  listMints,
  type StateUnderWay,
  statesUnderWay,
  stopLanes,
} from '../rwa/operators/remedies/mint-admin-store.ts';
import { addRemedyCommands } from './mint-remedies.ts';
import { addMintVerifyCommand } from './mint-verify.ts';
import { audited } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { laneWords, unregisteredSigners } from './shared/lane-words.ts';
import { asOperator, type Operator, type Session } from './shared/session.ts';
import { addressValue, chainOption, isUuid, wholeNumber } from './shared/values.ts';

const laneColumns = {
  chainId: 'CHAIN',
  signer: 'SIGNER',
  holder: 'WORKER',
  queued: 'QUEUED',
  inFlight: 'IN FLIGHT',
  oldestQueuedAt: 'OLDEST',
  paused: 'PAUSED',
  pausedAt: 'SINCE',
  why: 'WHY',
  remedy: 'WHAT TO DO',
};
const mintColumns = {
  nftId: 'NFT',
  chainId: 'CHAIN',
  state: 'STATE',
  recipient: 'RECIPIENT',
  since: 'SINCE',
  reason: 'REASON',
  why: 'WHY',
  remedy: 'WHAT TO DO',
};
const attemptColumns = {
  nonce: 'NONCE',
  attempt: 'ATTEMPT',
  state: 'STATE',
  hash: 'HASH',
  maxFeePerGas: 'MAX FEE (WEI)',
  sentAtBlock: 'AT BLOCK',
  minedBlock: 'MINED IN',
};

type LaneOptions = { chainId?: string; contract?: string; signer?: string };

export function addMintCommands(program: Command, session: Session): void {
  const mint = program
    .command('mint')
    .description('Show mints that are queued, in flight or stuck, and act on them');
  addListCommand(mint, session);
  addShowCommand(mint, session);
  addRemedyCommands(mint, session);
  addMintVerifyCommand(mint, session);
  addStopCommand(mint, session, { name: 'pause', about: 'Stop lanes from sending. They watch what is sent' });
  addStopCommand(mint, session, { name: 'resume', about: 'Let lanes send again' }).option(
    '--contract <address>',
    'resume no lane; send the next transaction at once to this contract, whose transactions minted nothing',
    addressValue,
  );
}

function addListCommand(mint: Command, session: Session): void {
  const list = mint
    .command('list')
    .description('List NFTs that are queued, submitted or failed, the longest wait first')
    .addOption(new Option('--state <state>', 'list only NFTs in this state').choices(statesUnderWay))
    .addOption(chainOption('only this network'))
    .option('--limit <count>', 'list at most so many', wholeNumber(1, 10_000), 100)
    .action(({ state, chainId, limit }: { state?: StateUnderWay; chainId?: string; limit: number }) =>
      asOperator(session, async ({ db, config, output }) => {
        const states = state === undefined ? statesUnderWay : [state];
        output.rows(await listMints(db, { states, chainId, limit }), mintColumns);
        // A lane may wait while no NFT is listed: only what is minted waits to become final, for example.
        const standing = (await listLanes(db, { chainId })).flatMap((lane) => laneWords(lane) ?? []);
        const unregistered = unregisteredSigners(config, await listNetworks(db));
        for (const words of [...standing, ...unregistered]) output.say(words);
      }),
    );
  examples(list, 'mint list', 'mint list --state failed --json');
}

const withRemedy = (lane: LaneStatus) => ({
  ...lane,
  remedy: lane.paused === null ? null : remedyOf(lane.paused),
});

function addShowCommand(mint: Command, session: Session): void {
  const show = mint
    .command('show [nftId]')
    .description('Show every attempt to mint an NFT, or every lane without an id')
    .action((nftId: string | undefined) =>
      asOperator(session, async ({ db, output }) => {
        if (nftId === undefined) output.rows((await listLanes(db, {})).map(withRemedy), laneColumns);
        else if (isUuid(nftId)) output.rows(await listAttempts(db, nftId), attemptColumns);
        else throw new UsageError(`${nftId} is no id of an NFT. See: tallystick mint list`);
      }),
    );
  examples(show, 'mint show', 'mint show 8a1d0f0e-2f6b-4d35-8d92-5d8a6b0f7c11');
}

function addStopCommand(
  mint: Command,
  session: Session,
  { name, about }: { readonly name: 'pause' | 'resume'; readonly about: string },
): Command {
  const command = mint
    .command(name)
    .description(`${about}. Without an option: all lanes`)
    .addOption(chainOption('only this network'))
    .option('--signer <address>', 'only this signer', addressValue)
    .action(({ contract, ...filter }: LaneOptions) =>
      asOperator(session, async ({ db, output }) => {
        if (contract !== undefined) return resumeContract({ db, output }, { ...filter, contract });
        const lanes = await audited(
          db,
          (tx) => stopLanes(tx, { ...filter }, name === 'pause'),
          (stopped) => ({
            action: `mint.${name}`,
            subject: null,
            details: { lanes: stopped.length, ...filter },
          }),
        );
        if (lanes.length === 0) throw new UsageError('There is no such lane. See: tallystick mint show');
        output.rows(lanes.map(withRemedy), laneColumns);
      }),
    );
  examples(command, `mint ${name} --chain 137`);
  return command;
}

/** @throws UsageError when the contract has made no transaction fail, or lanes are named */
async function resumeContract(
  { db, output }: Pick<Operator, 'db' | 'output'>,
  { chainId, contract, signer }: LaneOptions & { readonly contract: string },
): Promise<void> {
  if (signer !== undefined) throw new UsageError('Give --signer or --contract, not both.');
  const chainIds = await audited(
    db,
    (tx) => askProbe(tx, { chainId, contract }),
    (asked) => ({ action: 'mint.resume', subject: null, details: { contract, networks: asked } }),
  );
  if (chainIds.length === 0)
    throw new UsageError(`No transaction to ${contract} minted nothing lately. See: tallystick mint list`);
  output.record({ contract, chainIds });
  output.say('The next transaction to it is sent at once.');
}
