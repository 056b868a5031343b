import { type Command, InvalidArgumentError } from 'commander';
import { chainAudit, type Link, linkText, verifyAudit } from '../db/records/audit-chain-store.ts';
import { type AuditFilter, listAudit } from '../db/records/audit-store.ts';
import { examples } from './shared/examples.ts';
import { OperationError } from './shared/failure.ts';
import { findCompany } from './shared/find.ts';
import { asOperator, interruptible, type Session } from './shared/session.ts';
import { moment, wholeNumber, words } from './shared/values.ts';

const columns = {
  id: 'ID',
  at: 'AT',
  actor: 'WHO',
  origin: 'FROM',
  action: 'ACTION',
  companyId: 'COMPANY',
  subject: 'SUBJECT',
  details: 'DETAILS',
};

export function addAuditCommands(program: Command, session: Session): void {
  const audit = program
    .command('audit')
    .description('Read and verify the audit log: who changed or revealed what, and when');
  addListCommand(audit, session);
  addVerifyCommand(audit, session);
}

type ListOptions = Omit<AuditFilter, 'companyId'> & { company?: string; limit: number };

function addListCommand(audit: Command, session: Session): void {
  const list = audit
    .command('list')
    .description('List entries, the newest first. --before continues after a page')
    .option('--company <company>', 'only entries of this company, by id or name')
    .option('--actor <who>', 'only entries of this operator, or of the key with this id', words())
    .option('--action <action>', 'only entries of this action, such as key.create', words())
    .option('--subject <id>', 'only entries about this id', words())
    .option('--since <date>', 'only entries since a date (midnight UTC) or a timestamp', moment)
    .option('--until <date>', 'only entries until a date (midnight UTC) or a timestamp', moment)
    .option('--before <id>', 'only entries before this one', entryId)
    .option('--limit <count>', 'list at most so many', wholeNumber(1, 10_000), 100)
    .action(({ company, limit, ...filter }: ListOptions) =>
      asOperator(
        session,
        async ({ db, output }) => {
          const companyId = company === undefined ? undefined : (await findCompany({ db }, company)).id;
          const found = await listAudit(db, { ...filter, companyId }, limit);
          output.rows(found, columns);
          const last = found.at(-1);
          if (found.length === limit && last !== undefined) output.say(`Go on with: --before ${last.id}`);
        },
        // What a filter leaves may be the oldest entry of all.
        { isWhole: true },
      ),
    );
  examples(
    list,
    'audit list --company acme --action nft.secrets_read',
    'audit list --since 2027-01-01 --json',
  );
}

function addVerifyCommand(audit: Command, session: Session): void {
  const verify = audit
    .command('verify')
    .description('Verify that no entry was changed, removed or added; exit status 1 otherwise')
    .option(
      '--noted <head>',
      'head that an earlier run printed or a worker logged; it must still be in the chain',
      head,
    )
    .action(({ noted }: { noted?: Link }) =>
      asOperator(
        session,
        ({ db, output }) =>
          interruptible(session, 'nothing is changed by it.', async (signal) => {
            const chained = await chainAudit(db);
            const progress = output.progress('Verifying', 'entries');
            const verified = await verifyAudit(db, { noted, signal, onProgress: progress.update }).finally(
              progress.stop,
            );
            output.record({
              entries: verified.head.position.toString(),
              chained,
              head: linkText(verified.head),
              faults: verified.faults,
            });
            if (chained > 0) {
              output.say(
                `${chained} entries were chained just now. A worker chains each within a minute of its commit.`,
              );
            }
            if (verified.faults.length > 0) {
              throw new OperationError(`The audit log has ${verified.faults.length} fault(s).`);
            }
            output.say(
              'Keep the head elsewhere: only --noted with it shows that the end was not cut off or written again.',
            );
          }),
        { isWhole: true },
      ),
    );
  examples(verify, 'audit verify', 'audit verify --json | jq -r .head');
}

function entryId(text: string): string {
  if (/^[1-9]\d{0,18}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the id of an entry.');
}

function head(text: string): Link {
  const [, position, hash] = /^(\d{1,18}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (position === undefined || hash === undefined) {
    throw new InvalidArgumentError('It must be a head as tallystick audit verify prints it.');
  }
  return { position: BigInt(position), hash: Buffer.from(hash, 'hex') };
}
