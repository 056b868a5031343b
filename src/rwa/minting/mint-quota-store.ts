import type { Tx } from '../../contract/transaction.ts';
import { problem } from '../../errors.ts';
import { type Outcome, refuse } from './mint-decision.ts';

/*
 * Tables `company_limits`, `company_gas_budgets` and what was used of them: how many NFTs a company may have accepted
 * for minting in a day, and what their gas may cost on each network. Days are those of UTC by the database's clock.
 */

type Allowance = {
  readonly day: string;
  /** How many more mints; null without a quota. */
  readonly left: bigint | null;
  /** Networks whose budget is spent. */
  readonly spentChains: ReadonlySet<string>;
  /** Until the next day. */
  readonly secondsLeft: number;
};

const today = "(clock_timestamp() AT TIME ZONE 'UTC')::date";

type LimitRow = { day: string; quota: string | null; spent: string[] | null; seconds: number };

/** What the company may still have accepted. Its count stays locked until the transaction ends. */
async function lockAllowance(tx: Tx, companyId: string): Promise<Allowance | undefined> {
  const { rows }: { rows: LimitRow[] } = await tx.raw(
    `SELECT ${today}::text AS day, (SELECT mints_per_day FROM company_limits WHERE company_id = :companyId) AS quota,
       (SELECT array_agg(b.chain_id::text) FROM company_gas_budgets b
        LEFT JOIN company_gas_days d ON d.company_id = b.company_id AND d.chain_id = b.chain_id AND d.day = ${today}
        WHERE b.company_id = :companyId AND coalesce(d.wei, 0) >= b.wei_per_day) AS spent,
       ceil(extract(epoch FROM (${today} + 1)::timestamp AT TIME ZONE 'UTC' - clock_timestamp()))::int AS seconds`,
    { companyId },
  );
  const [row] = rows;
  if (row === undefined || (row.quota === null && row.spent === null)) return undefined;
  const { day, quota } = row;
  const left = quota === null ? null : BigInt(quota) - (await lockAccepted(tx, companyId, day));
  return { day, left, spentChains: new Set(row.spent), secondsLeft: Math.max(row.seconds, 1) };
}

async function lockAccepted(tx: Tx, companyId: string, day: string): Promise<bigint> {
  await tx.raw('INSERT INTO company_mint_days (company_id, day) VALUES (?, ?) ON CONFLICT DO NOTHING', [
    companyId,
    day,
  ]);
  const { rows }: { rows: { accepted: string }[] } = await tx.raw(
    'SELECT accepted FROM company_mint_days WHERE company_id = ? AND day = ? FOR UPDATE',
    [companyId, day],
  );
  return BigInt(rows[0]?.accepted ?? 0);
}

/**
 * Refuses the mints, in their order, that the company's quota or gas budget does not allow, and counts the others. What
 * was accepted before is not counted again.
 */
export async function keepWithinQuota<R>(
  tx: Tx,
  companyId: string,
  outcomes: Map<R, Outcome>,
): Promise<void> {
  if (![...outcomes.values()].some(({ kind }) => kind === 'queued')) return;
  const allowance = await lockAllowance(tx, companyId);
  if (allowance === undefined) return;
  const { day, left, spentChains, secondsLeft } = allowance;
  const refusedNfts = new Set<string>();
  let accepted = 0n;
  const exceeds = (outcome: Outcome) => {
    if (outcome.kind === 'known') return refusedNfts.has(outcome.nftId);
    if (outcome.kind !== 'queued') return false;
    if ((left === null || accepted < left) && !spentChains.has(outcome.chainId)) {
      accepted += 1n;
      return false;
    }
    refusedNfts.add(outcome.nftId);
    return true;
  };
  for (const [request, outcome] of outcomes) {
    if (exceeds(outcome)) outcomes.set(request, refuse(quotaExceeded(secondsLeft)));
  }
  if (left === null || accepted === 0n) return;
  await tx.raw('UPDATE company_mint_days SET accepted = accepted + ? WHERE company_id = ? AND day = ?', [
    accepted.toString(),
    companyId,
    day,
  ]);
}

const quotaExceeded = (seconds: number) =>
  problem('mint_quota_exceeded', {}, { headers: { 'Retry-After': String(seconds) } });
