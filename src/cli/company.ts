import type { Command } from 'commander';
import { insertCompany, listCompanies, updateCompany, ZeroTreasuryError } from '../keys/company-store.ts';
import { audited } from './shared/audited.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { findCompany, unknownCompany } from './shared/find-company.ts';
import { asOperator, type Session } from './shared/session.ts';
import { address, orEmpty, orNull, present, webUrl, words } from './shared/values.ts';

const columns = { id: 'ID', name: 'NAME', treasuryAddress: 'TREASURY', claimBaseUrl: 'CLAIM PAGE' };

type Changes = { name?: string; treasury?: string; claimUrl?: string };

/** `tallystick company`: who uses the service. */
export function addCompanyCommands(program: Command, session: Session): void {
  const company = program.command('company').description('Companies: who events, RWAs and keys belong to');
  addCreateCommand(company, session);
  addReadCommands(company, session);
  addUpdateCommand(company, session);
}

function addCreateCommand(company: Command, session: Session): void {
  const create = company
    .command('create')
    .description('Register a company')
    .argument('<name>', 'its name, unique', words())
    .option('--id <id>', 'its id at your authentication service; made here by default', words());
  withFields(create).action((name: string, { id, ...fields }: Changes & { id?: string }) =>
    asOperator(session, async ({ db, output }) => {
      const values = { ...toChanges(fields), ...present({ id }), name };
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
    }),
  );
  examples(
    create,
    'company create acme',
    'company create globex --id org_42 --treasury 0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  );
}

function addReadCommands(company: Command, session: Session): void {
  company
    .command('list')
    .description('List all companies by name')
    .action(() =>
      asOperator(session, async ({ db, output }) => output.rows(await listCompanies(db), columns)),
    );

  company
    .command('show <company>')
    .description('Show one company, by id or name')
    .action((idOrName: string) =>
      asOperator(session, async (operator) => operator.output.record(await findCompany(operator, idOrName))),
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
  );
}

const withFields = (command: Command) =>
  command
    .option('--treasury <address>', 'where NFTs go that are minted without a recipient', orEmpty(address))
    .option('--claim-url <url>', "claim page of the company's NFTs", orEmpty(webUrl));

const toChanges = ({ name, treasury, claimUrl }: Changes) =>
  present({ name, treasuryAddress: orNull(treasury), claimBaseUrl: orNull(claimUrl) });

// The store keeps the database's error as the cause; SQLSTATE 23505: unique_violation.
function explainTaken(error: unknown): never {
  if (error instanceof ZeroTreasuryError) throw new UsageError(`${error.message} Set another: --treasury.`);
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && 'code' in cause && cause.code === '23505') {
    throw new UsageError(
      'A company of this id or name exists already. List them with: tallystick company list',
    );
  }
  throw error;
}
