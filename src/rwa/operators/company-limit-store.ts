import type { Database, Tx } from '../../contract/transaction.ts';
import { today } from '../minting/accept/mint-quota-store.ts';

/** What a company may mint in a day, and what it has used today (UTC). */
export type CompanyLimits = {
  /** Null without a quota. */
  readonly mintsPerDay: string | null;
  /** Mints that were accepted today; null without a quota, when nobody counts. */
  readonly acceptedToday: string | null;
  /** For each network with a budget or a cost today, in wei. */
  readonly gas: readonly {
    readonly chainId: string;
    readonly perDay: string | null;
    readonly today: string;
  }[];
};

export async function findCompanyLimits(db: Database, companyId: string): Promise<CompanyLimits> {
  const { rows } = await db.raw(
    `SELECT (SELECT mints_per_day::text FROM company_limits WHERE company_id = :companyId) AS quota,
       coalesce((SELECT accepted FROM company_mint_days WHERE company_id = :companyId AND day = ${today}), 0)::text AS accepted,
       coalesce((SELECT json_agg(json_build_object('chainId', chain_id::text, 'perDay', b.wei_per_day::text,
           'today', coalesce(d.wei, 0)::text) ORDER BY chain_id)
         FROM (SELECT * FROM company_gas_budgets WHERE company_id = :companyId) b
         FULL JOIN (SELECT * FROM company_gas_days WHERE company_id = :companyId AND day = ${today}) d
           USING (chain_id)), '[]') AS gas`,
    { companyId },
  );
  const [row]: { quota: string | null; accepted: string; gas: CompanyLimits['gas'] }[] = rows;
  if (row === undefined) throw new Error('The limits of a company could not be read.');
  const { quota: mintsPerDay, accepted, gas } = row;
  return { mintsPerDay, acceptedToday: mintsPerDay === null ? null : accepted, gas };
}

/** Sets how many mints of the company are accepted in a day; null for no limit. */
export async function setMintQuota(tx: Tx, companyId: string, mintsPerDay: number | null): Promise<void> {
  if (mintsPerDay === null) await tx('company_limits').where({ company_id: companyId }).delete();
  else {
    await tx('company_limits')
      .insert({ company_id: companyId, mints_per_day: mintsPerDay })
      .onConflict('company_id')
      .merge();
  }
}

/** A budget for the gas of a network, in wei a day; null for none. */
export type GasBudget = { readonly chainId: string; readonly weiPerDay: bigint | null };

export async function setGasBudget(
  tx: Tx,
  companyId: string,
  { chainId, weiPerDay }: GasBudget,
): Promise<void> {
  const id = { company_id: companyId, chain_id: chainId };
  if (weiPerDay === null) await tx('company_gas_budgets').where(id).delete();
  else {
    await tx('company_gas_budgets')
      .insert({ ...id, wei_per_day: weiPerDay.toString() })
      .onConflict(['company_id', 'chain_id'])
      .merge();
  }
}
