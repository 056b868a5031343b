import type { Command } from 'commander';
import {
  mergeRwa,
  needsExamination,
  type RwaChange,
  setArchived,
  updateRwa,
} from '../../rwa/assets/rwa-change-store.ts';
import { audited } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { asOperator, type Operator, type Session } from '../shared/session.ts';
import { chainOption } from '../shared/values.ts';
import { admitContract, notExamined } from './rwa-contract.ts';
import { findRwaRecord, shown } from './rwa-record.ts';

const sample = '5f0c8f3e-6d5b-4c56-9a3f-8c1f6f1f2a10';

/** Returns what is wrong with the options of an RWA. A field such as `data.litres` belongs to --data. */
export const optionFaults = (errors: readonly { readonly field: string; readonly message: string }[]) =>
  new UsageError(errors.map(({ field, message }) => `${optionOf(field)} ${message}.`).join('\n'));

const optionOf = (field: string) =>
  field === 'chainId'
    ? '--chain'
    : `--${field.replace(/\..*/, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Commands that change an RWA, take it out of the lists, and put it back. */
export function addChangeCommands(rwa: Command, session: Session): void {
  addUpdateCommand(rwa, session);
  addArchiveCommand(rwa, session, {
    name: 'archive',
    about: 'Archive an RWA: lists leave it out, and new mints are rejected. Accepted mints go on',
    isArchived: true,
  });
  addArchiveCommand(rwa, session, {
    name: 'unarchive',
    about: 'Put an archived RWA back into the lists',
    isArchived: false,
  });
}

/** By the names that commander gives: false stands for `--no-…`, which clears what is no flag. */
type Given = Record<string, string | boolean | undefined> & { offline?: true };

function addUpdateCommand(rwa: Command, session: Session): void {
  const update = rwa
    .command('update <id>')
    .description('Change the given fields of an RWA. --no-… clears a field')
    .option('--name <name>', 'its name')
    .option('--type <type>', 'a word of your own, such as whisky')
    .option('--description <text>', 'what it is')
    .option('--no-description')
    .option('--image-url <url>', 'an http(s) URL')
    .option('--no-image-url')
    .option('--is-buyable', 'allow purchases through a payment provider')
    .option('--no-is-buyable')
    .option('--is-claimable', 'allow claims of its NFTs on the chain')
    .option('--no-is-claimable', 'reject claims; accepted mints go on')
    .option('--price <decimal>', 'such as 1250.00; needs a currency')
    .option('--no-price')
    .option('--currency <code>', 'ISO 4217 code or token symbol')
    .option('--no-currency')
    .option('--data <json>', 'any JSON object, which replaces the present one')
    .option('--no-data')
    .option('--claim-base-url <url>', 'claim page of its NFTs')
    .option('--no-claim-base-url', "the claim page of its company's")
    .addOption(chainOption('decimal id of a registered network, before the first NFT'))
    .option('--contract-address <address>', 'the NFT contract of its NFTs, before the first NFT')
    .option('--offline', 'do not ask the network about the contract')
    .action((id: string, { offline, ...given }: Given) => {
      if (Object.keys(given).length === 0) {
        throw new UsageError('Nothing to change was given. See: tallystick rwa update --help');
      }
      return asOperator(session, (operator) => change(operator, id, changeOf(given), offline === true));
    });
  examples(update, `rwa update ${sample} --price 1300.00 --no-image-url`);
}

const flags = ['isBuyable', 'isClaimable'];

const changeOf = (given: Given): RwaChange =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === false && !flags.includes(name) ? null : value,
    ]),
  );

async function change(operator: Operator, id: string, wanted: RwaChange, offline: boolean): Promise<void> {
  const { db, output } = operator;
  const before = await findRwaRecord(db, id);
  const { id: rwaId, companyId } = before;
  const target = mergeRwa(before, wanted);
  if (target.ok && needsExamination(before, target.input)) {
    if (offline) output.say(notExamined);
    else await admitContract(operator, target.input);
  }
  const result = await audited(
    db,
    (tx) => updateRwa(tx, before, wanted),
    (done) =>
      done.kind === 'done' && done.changed.length > 0
        ? { action: 'rwa.update', companyId, subject: rwaId, details: { fields: done.changed } }
        : undefined,
  );
  if (result.kind === 'missing') throw new UsageError(`There is no RWA ${id}.`);
  if (result.kind === 'faulty') throw optionFaults(result.errors);
  if (result.changed.length === 0) output.say('It was so already: nothing has changed.');
  output.record(shown(await findRwaRecord(db, rwaId)));
}

type Archiving = { readonly name: string; readonly about: string; readonly isArchived: boolean };

function addArchiveCommand(rwa: Command, session: Session, { name, about, isArchived }: Archiving): void {
  const command = rwa
    .command(`${name} <id>`)
    .description(about)
    .action((id: string) =>
      asOperator(session, async ({ db, output }) => {
        const rwa = await findRwaRecord(db, id);
        const isChanged = await audited(
          db,
          (tx) => setArchived(tx, rwa, isArchived),
          (done) => (done ? { action: `rwa.${name}`, companyId: rwa.companyId, subject: rwa.id } : undefined),
        );
        if (!isChanged) output.say('It was so already: nothing has changed.');
        output.record(shown(await findRwaRecord(db, id)));
      }),
    );
  examples(command, `rwa ${name} ${sample}`);
}
