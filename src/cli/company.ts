import { type Command, InvalidArgumentError } from 'commander';
import { errorCode } from '../base/thrown.ts';
import type { Database, Tx } from '../contract/transaction.ts';
import { insertCompany, listCompanies, updateCompany, ZeroTreasuryError } from '../keys/company-store.ts';
import { findRecipientFault } from '../rwa/minting/accept/recipient.ts';
import {
  findCompanyLimits,
  type GasBudget,
  setGasBudget,
  setMintQuota,
} from '../rwa/operators/company-limit-store.ts';
import { audited } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { findCompany, findRegistered, unknownCompany } from './shared/find.ts';
import { showPage } from './shared/output.ts';
import { asOperator, type Session } from './shared/session.ts';
import {
  addressValue,
  orEmpty,
  orNull,
  present,
  visibleWords,
  webUrl,
  wholeNumber,
  words,
} from './shared/values.ts';

const columns = {
  id: 'ID',
  name: 'NAME',
  displayName: 'DISPLAY NAME',
  treasuryAddress: 'TREASURY',
  claimBaseUrl: 'CLAIM PAGE',
};

type Changes = { name?: string; displayName?: string; treasury?: string; claimUrl?: string };

export function addCompanyCommands(program: Command, session: Session): void {
  const company = program.command('company').description('Manage companies, which own events, RWAs and keys');
  addCreateCommand(company, session);
  addReadCommands(company, session);
  addUpdateCommand(company, session);
  addLimitCommand(company, session);
}

function addCreateCommand(company: Command, session: Session): void {
  const create = company
    .command('create')
    .description('Register a company')
    .argument('<name>', 'its name, unique', words())
    .option('--id <id>', 'its id at your authentication service; a new id by default', words());
  withFields(create).action((name: string, { id, ...fields }: Changes & { id?: string }) =>
    asOperator(session, async ({ db, output }) => {
      const values = { ...toChanges(fields), ...present({ id }), name };
      await assertUsable(db, values.treasuryAddress);
      const made = await audited(
        db,
        (tx) => insertCompany(tx, values),
        ({ id: companyId }) => ({
          action: 'company.create',
          companyId,
          subject: companyId,
          details: { name },
        }),
      ).catch(explainTaken);
      output.record(made);
      if (made.treasuryAddress === null) output.say(noTreasury(made.id));
    }),
  );
  examples(
    create,
    'company create acme',
    'company create globex --id org_42 --treasury 0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  );
}

const noTreasury = (id: string) =>
  `It has no treasury, so each mint needs a recipient. Set one: tallystick company update ${id} --treasury <address>`;

function addReadCommands(company: Command, session: Session): void {
  company
    .command('list')
    .description('List companies by name, and say when there are more')
    .option('--limit <count>', 'list at most so many', wholeNumber(1, 10_000), 100)
    .option('--after <company>', 'list only companies after this one, by id or name')
    .action(({ limit, after }: { limit: number; after?: string }) =>
      asOperator(session, async ({ db, output }) => {
        const last = after === undefined ? undefined : (await findCompany({ db }, after)).name;
        showPage(output, await listCompanies(db, { after: last, limit: limit + 1 }), { limit, columns });
      }),
    );

  company
    .command('show <company>')
    .description('Show one company, by id or name')
    .action((idOrName: string) =>
      asOperator(session, async (operator) => {
        const company = await findCompany(operator, idOrName);
        operator.output.record({ ...company, ...(await findCompanyLimits(operator.db, company.id)) });
      }),
    );
}

function addUpdateCommand(company: Command, session: Session): void {
  const update = company
    .command('update <company>')
    .description('Change a company, by id or name; an empty text clears a field')
    .option('--name <name>', 'new name', words());
  withFields(update).action((idOrName: string, options: Changes) =>
    asOperator(session, async (operator) => {
      const changes = toChanges(options);
      if (Object.keys(changes).length === 0) throw new UsageError('Nothing to change: give an option.');
      const { id } = await findCompany(operator, idOrName);
      await assertUsable(operator.db, changes.treasuryAddress);
      const updated = await audited(
        operator.db,
        (tx) => updateCompany(tx, id, changes),
        () => ({ action: 'company.update', companyId: id, subject: id, details: changes }),
      ).catch(explainTaken);
      operator.output.record(updated ?? unknownCompany(idOrName));
    }),
  );
  examples(
    update,
    'company update acme --claim-url https://acme.example/claim',
    'company update acme --treasury ""',
    'company update acme --display-name "Acme Whisky"',
  );
}

type LimitOptions = { mintsPerDay?: number | 'none'; gasPerDay?: GasBudget[] };

function addLimitCommand(company: Command, session: Session): void {
  const limit = company
    .command('limit <company>')
    .description('Limit the mints of a company per day (UTC). Further mints are 429 until the next day')
    .option('--mints-per-day <n>', 'NFTs to accept for minting, or none for no limit', quota)
    .option(
      '--gas-per-day <chainId=wei>',
      'cost of the gas of its mints on a network, in wei, or none; repeatable',
      gasBudgets,
    )
    .action((idOrName: string, { mintsPerDay, gasPerDay = [] }: LimitOptions) =>
      asOperator(session, async (operator) => {
        if (mintsPerDay === undefined && gasPerDay.length === 0) {
          throw new UsageError('Nothing to change: give --mints-per-day or --gas-per-day.');
        }
        const { id: companyId } = await findCompany(operator, idOrName);
        for (const { chainId } of gasPerDay) await findRegistered(operator, chainId);
        const details = {
          mintsPerDay,
          gasPerDay: gasPerDay.map(({ chainId, weiPerDay }) => `${chainId}=${weiPerDay ?? 'none'}`),
        };
        const set = async (tx: Tx) => {
          if (mintsPerDay !== undefined) {
            await setMintQuota(tx, companyId, mintsPerDay === 'none' ? null : mintsPerDay);
          }
          for (const budget of gasPerDay) await setGasBudget(tx, companyId, budget);
        };
        await audited(operator.db, set, () => ({
          action: 'company.limit',
          companyId,
          subject: companyId,
          details,
        }));
        operator.output.record({ companyId, ...(await findCompanyLimits(operator.db, companyId)) });
      }),
    );
  examples(
    limit,
    'company limit acme --mints-per-day 5000 --gas-per-day 137=250000000000000000',
    'company limit acme --mints-per-day none',
  );
}

const quota = (text: string) => (text === 'none' ? text : wholeNumber(0, 1_000_000_000)(text));

function gasBudgets(text: string, earlier: readonly GasBudget[] = []): GasBudget[] {
  const [, chainId, amount] = /^([1-9]\d{0,15})=(none|\d{1,60})$/.exec(text) ?? [];
  if (chainId === undefined || amount === undefined) {
    throw new InvalidArgumentError(
      'It must be a chain id, = and a whole number of wei, such as 137=1000000, or none.',
    );
  }
  return [...earlier, { chainId, weiPerDay: amount === 'none' ? null : BigInt(amount) }];
}

const withFields = (command: Command) =>
  command
    .option(
      '--display-name <name>',
      'name that customers see: on the claim page, on sheets of codes and in metadata',
      orEmpty(visibleWords()),
    )
    .option(
      '--treasury <address>',
      'address that receives NFTs minted without a recipient',
      orEmpty(addressValue),
    )
    .option('--claim-url <url>', "claim page of the company's NFTs", orEmpty(webUrl));

const toChanges = ({ name, displayName, treasury, claimUrl }: Changes) =>
  present({
    name,
    displayName: orNull(displayName),
    treasuryAddress: orNull(treasury),
    claimBaseUrl: orNull(claimUrl),
  });

/** @throws UsageError for a treasury to which nothing is minted */
async function assertUsable(db: Database, treasury: string | null | undefined): Promise<void> {
  if (treasury === undefined || treasury === null) return;
  const fault = await findRecipientFault(db, treasury);
  if (fault !== undefined) throw new UsageError(`${fault}. Set another: --treasury.`);
}

// The store keeps the database's error as the cause; SQLSTATE 23505: unique_violation.
function explainTaken(error: unknown): never {
  if (error instanceof ZeroTreasuryError) throw new UsageError(`${error.message} Set another: --treasury.`);
  if (error instanceof Error && errorCode(error.cause) === '23505') {
    throw new UsageError(
      'A company of this id or name exists already. List them with: tallystick company list',
    );
  }
  throw error;
}
