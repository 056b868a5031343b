import { inputInvalid } from '../base/errors.ts';
import { parseIsoDate } from '../base/iso-date.ts';
import type { components } from '../contract/generated/rwa.ts';
import type { CompanyContext } from '../contract/operation.ts';
import type { Database } from '../contract/transaction.ts';
import { readUsage, type UsageGroup } from './usage-store.ts';

type Question = {
  readonly query: { readonly from: string; readonly to: string; readonly by?: UsageGroup | undefined };
};

const dayMs = 86_400_000;
const mostDays = 31;

/** Creates the handler that answers what the company used; a key that is limited to scopes learns only what it used itself. */
export function createUsageHandler(db: Database) {
  return async ({ query }: Question, { companyId, caller }: Pick<CompanyContext, 'companyId' | 'caller'>) => {
    const { from, to, by = 'operation' } = query;
    const days = (dayOf('to', to) - dayOf('from', from)) / dayMs + 1;
    if (days < 1) throw refusal('to', 'must not be before from');
    if (days > mostDays) throw refusal('to', `must be at most ${mostDays} days after from, both included`);
    const keyId = caller.scopes === null ? undefined : caller.keyId;
    const { gas, ...usage } = await readUsage(db, { companyId, from, to, by, keyId });
    const body: components['schemas']['Usage'] = {
      ...usage,
      items: [...usage.items],
      // One transaction mints for several keys.
      gasCosts:
        keyId === undefined ? gas.map(({ chainId, wei }) => ({ chainId: Number(chainId), wei })) : null,
    };
    return { status: 200 as const, body };
  };
}

/** @throws ProblemError for a day that the calendar does not have */
function dayOf(name: string, text: string): number {
  const day = parseIsoDate(text);
  // The pattern of the document allows 30 February.
  if (day === undefined) throw refusal(name, 'must be a date that the calendar has');
  return day.getTime();
}

const refusal = (name: string, message: string) =>
  inputInvalid([{ in: 'query', name, message: `${name} ${message}` }]);
