import { Argument, type Command } from 'commander';
import type { Database } from '../../contract/transaction.ts';
import { updateRwa } from '../../rwa/assets/rwa-change-store.ts';
import { parseRwaInput } from '../../rwa/assets/rwa-input.ts';
import { createRwa, listOperatorRwas } from '../../rwa/operators/rwa-admin-store.ts';
import { audited } from '../shared/audited.ts';
import { examples } from '../shared/examples.ts';
import { UsageError } from '../shared/failure.ts';
import { findCompany, findRegistered } from '../shared/find.ts';
import { showPage } from '../shared/output.ts';
import { asOperator, type Session } from '../shared/session.ts';
import { chainOption, wholeNumber } from '../shared/values.ts';
import { addChangeCommands, optionFaults } from './rwa-change.ts';
import { admitContract, notExamined } from './rwa-contract.ts';
import { addExportCommand } from './rwa-export.ts';
import { addImportCommand } from './rwa-import.ts';
import { findRwaRecord, shown } from './rwa-record.ts';
import { addSecretCommands } from './rwa-secrets.ts';

const columns = {
  id: 'ID',
  companyName: 'COMPANY',
  name: 'NAME',
  type: 'TYPE',
  chainId: 'CHAIN',
  isBuyable: 'BUYABLE',
  isClaimable: 'CLAIMABLE',
  claimPage: 'CLAIM PAGE',
  totalNfts: 'NFTS',
  claimedNfts: 'CLAIMED',
};

export function addRwaCommands(program: Command, session: Session): void {
  const rwa = program
    .command('rwa')
    .description('Manage real-world assets: create, import, export, claim secrets');
  addCreateCommand(rwa, session);
  addListCommand(rwa, session);
  addShowCommand(rwa, session);
  addClaimPageCommand(rwa, session);
  addChangeCommands(rwa, session);
  addImportCommand(rwa, session);
  addExportCommand(rwa, session);
  addSecretCommands(rwa, session);
}

type CreateOptions = {
  readonly company: string;
  readonly chainId: string;
  readonly contractAddress?: string;
  readonly offline?: true;
};

function addCreateCommand(rwa: Command, session: Session): void {
  const create = rwa
    .command('create')
    .description('Create one RWA of a company')
    .requiredOption('--company <company>', 'id or name of its company')
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--type <type>', 'a word of your own, such as whisky')
    .addOption(chainOption('decimal id of a registered network').makeOptionMandatory())
    .option('--contract-address <address>', "the NFT contract of its NFTs; by default the network's own")
    .option('--description <text>', 'what it is')
    .option('--image-url <url>', 'an http(s) URL')
    .option('--is-buyable', 'allow purchases through a payment provider')
    .option('--is-claimable', 'allow claims of its NFTs on the chain')
    .option('--price <decimal>', 'such as 1250.00; needs --currency')
    .option('--currency <code>', 'ISO 4217 code or token symbol')
    .option('--data <json>', 'any JSON object')
    .option(
      '--claim-page',
      'let everybody with a secret claim on the page of this service, or by its public operations',
    )
    .option('--claim-base-url <url>', "claim page of its NFTs; its company's by default")
    .option('--offline', 'do not ask the network about the contract')
    .action(({ company, offline, ...given }: CreateOptions) =>
      asOperator(session, async (operator) => {
        const { db, output } = operator;
        const { contractAddress = await contractOf(db, given.chainId) } = given;
        const parsed = parseRwaInput({ ...given, contractAddress });
        if (!parsed.ok) throw optionFaults(parsed.errors);
        const { id } = await findCompany({ db }, company);
        if (offline) output.say(notExamined);
        else await admitContract(operator, parsed.input);
        const made = await audited(
          db,
          (tx) => createRwa(tx, id, parsed.input),
          (rwa) => ({ action: 'rwa.create', companyId: id, subject: rwa.id }),
        );
        output.record(shown(made));
      }),
    );
  examples(
    create,
    `rwa create --company acme --name "Cask 17" --type whisky --chain 31337 \\
      --is-claimable --price 1250.00 --currency EUR --data '{"litres":220}'`,
  );
}

/** The contract that the service mints on there. @throws UsageError when the network has none */
async function contractOf(db: Database, chainId: string): Promise<string> {
  const { minterContract } = await findRegistered({ db }, chainId);
  if (minterContract !== null) return minterContract;
  throw new UsageError(`--contract-address is required: network ${chainId} has no contract of its own.`);
}

type ListOptions = {
  company?: string;
  includeArchived?: true;
  after?: string;
  limit: number;
  offset: number;
};

function addListCommand(rwa: Command, session: Session): void {
  const list = rwa
    .command('list')
    .description('List RWAs by creation, and say when there are more')
    .option('--company <company>', 'list only RWAs of this company, by id or name')
    .option('--include-archived', 'list archived RWAs too')
    .option('--limit <count>', 'list at most so many', wholeNumber(1, 10_000), 100)
    .option('--after <id>', 'list only RWAs after this one')
    .option('--offset <count>', 'RWAs to skip; each is read', wholeNumber(0, 1_000_000_000), 0)
    .action(({ company, includeArchived, after, limit, offset }: ListOptions) => {
      if (after !== undefined && offset > 0) throw new UsageError('Give --after or --offset, not both.');
      return asOperator(session, async ({ db, output }) => {
        const filter = {
          ...(company !== undefined && { companyId: (await findCompany({ db }, company)).id }),
          includeArchived: includeArchived === true,
          after: after === undefined ? undefined : (await findRwaRecord(db, after)).id,
        };
        const found = await listOperatorRwas(db, { ...filter, limit: limit + 1, offset });
        const shownColumns = includeArchived ? { ...columns, archivedAt: 'ARCHIVED' } : columns;
        const how = offset > 0 ? 'in place of --offset' : '';
        showPage(output, found.map(shown), { limit, columns: shownColumns, how });
      });
    });
  examples(
    list,
    'rwa list --company acme',
    'rwa list --limit 20 --after 5f0c8f3e-6d5b-4c56-9a3f-8c1f6f1f2a10',
  );
}

function addShowCommand(rwa: Command, session: Session): void {
  rwa
    .command('show <id>')
    .description('Show one RWA')
    .action((id: string) =>
      asOperator(session, async ({ db, output }) => output.record(shown(await findRwaRecord(db, id)))),
    );
}

function addClaimPageCommand(rwa: Command, session: Session): void {
  const command = rwa
    .command('claim-page <id>')
    .description('Switch claims without the company on or off, for everybody with a secret of the RWA')
    .addArgument(new Argument('<state>').choices(['on', 'off']))
    .action((id: string, state: 'on' | 'off') =>
      asOperator(session, async ({ db, output }) => {
        const rwa = await findRwaRecord(db, id);
        await audited(
          db,
          (tx) => updateRwa(tx, rwa, { claimPage: state === 'on' }),
          () => ({ action: 'rwa.claim_page', companyId: rwa.companyId, subject: rwa.id, details: { state } }),
        );
        output.record(shown(await findRwaRecord(db, id)));
      }),
    );
  examples(command, 'rwa claim-page 5f0c8f3e-6d5b-4c56-9a3f-8c1f6f1f2a10 on');
}
