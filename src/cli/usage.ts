import { type Command, InvalidArgumentError, Option } from 'commander';
import { csvLine } from '../base/csv.ts';
import { readUsage, type Usage, type UsageGroup, usageGroups } from '../keys/usage-store.ts';
import { examples } from './shared/examples.ts';
import { UsageError } from './shared/failure.ts';
import { findCompany } from './shared/find.ts';
import { asOperator, type Session } from './shared/session.ts';

type UsageOptions = { company: string; from: string; to: string; by: UsageGroup; csv?: true };

export function addUsageCommand(program: Command, session: Session): void {
  const usage = program
    .command('usage')
    .description('Show calls, rejections, mints and gas of a company')
    .requiredOption('--company <company>', 'id or name of the company')
    .requiredOption('--from <date>', 'first day, in UTC', day)
    .requiredOption('--to <date>', 'last day, in UTC', day)
    .addOption(
      new Option('--by <group>', 'what calls are summed by; mints are summed by key only')
        .choices(usageGroups)
        .default('operation'),
    )
    .option('--csv', 'print CSV')
    .action(({ company, from, to, by, csv }: UsageOptions) =>
      asOperator(session, async ({ db, output }) => {
        if (to < from) throw new UsageError('--to must not be before --from.');
        const { id: companyId } = await findCompany({ db }, company);
        const used = await readUsage(db, { companyId, from, to, by });
        if (csv === true) return output.stream(csvOf(used, by));
        if (output.json) return output.record({ companyId, from, to, by, ...used });
        const columns = { name: by.toUpperCase(), calls: 'CALLS', rejections: 'REJECTIONS' };
        output.rows(used.items, by === 'key' ? { ...columns, mints: 'MINTS' } : columns);
        output.say(`${used.calls} calls, ${used.rejections} rejections, ${used.mints} mints`);
        for (const { chainId, wei } of used.gas) output.say(`Gas on ${chainId}: ${wei} wei`);
      }),
    );
  examples(
    usage,
    'usage --company acme --from 2027-05-01 --to 2027-05-31 --by key',
    'usage --company acme --from 2027-05-01 --to 2027-05-31 --csv > usage.csv',
  );
}

/** A line for each item, one for the whole, and one for the gas on each network. */
async function* csvOf({ items, gas, calls, rejections, mints }: Usage, by: UsageGroup) {
  yield csvLine(['kind', 'name', 'calls', 'rejections', 'mints', 'wei']);
  for (const item of items) {
    yield csvLine([by, item.name, String(item.calls), String(item.rejections), String(item.mints ?? ''), '']);
  }
  yield csvLine(['total', '', String(calls), String(rejections), String(mints), '']);
  for (const { chainId, wei } of gas) yield csvLine(['gas', chainId, '', '', '', wei]);
}

function day(text: string): string {
  const isDay = /^2\d{3}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
  if (isDay && new Date(text).toISOString().startsWith(text)) return text;
  throw new InvalidArgumentError('It must be a date such as 2027-01-31.');
}
