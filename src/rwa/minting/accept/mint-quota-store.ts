import { problem } from '../../../base/errors.ts';
import type { Tx } from '../../../contract/transaction.ts';
import { prepared } from '../../../db/connection/prepared.ts';
import { together } from '../../../db/connection/together.ts';
import { type MintOutcome, refuse } from './mint-decision.ts';

/*
 * Tables `company_limits`, `company_gas_budgets` and their use: how many NFTs a company may have accepted for minting
 * in a day, and what their gas may cost on each network. Days are days of UTC by the database's clock.
 */

/** What a company may have accepted today. */
export type MintLimits = {
  readonly day: string;
  /** Mints of the whole day; null without a quota. */
  readonly quota: bigint | null;
  /** The networks with a budget for gas. */
  readonly budgeted: readonly string[];
  /** Until the next day. */
  readonly secondsLeft: number;
};

/** SQL of the present day (UTC). */
export const today = "(clock_timestamp() AT TIME ZONE 'UTC')::date";

type LimitRow = {
  day: string;
  quota: string | null;
  budgeted: string[] | null;
  seconds: number;
};

/** @returns undefined for a company without limits */
export async function findMintLimits(tx: Tx, companyId: string): Promise<MintLimits | undefined> {
  const { rows } = await prepared<LimitRow>(
    tx,
    'mint_limits',
    `SELECT ${today}::text AS day, (SELECT mints_per_day FROM company_limits WHERE company_id = $1) AS quota,
       (SELECT array_agg(chain_id::text) FROM company_gas_budgets WHERE company_id = $1) AS budgeted,
       ceil(extract(epoch FROM (${today} + 1)::timestamp AT TIME ZONE 'UTC' - clock_timestamp()))::int AS seconds`,
    [companyId],
  );
  const [row] = rows;
  if (row === undefined || (row.quota === null && row.budgeted === null)) return undefined;
  const { day, quota, budgeted, seconds } = row;
  return {
    day,
    quota: quota === null ? null : BigInt(quota),
    budgeted: budgeted ?? [],
    secondsLeft: Math.max(seconds, 1),
  };
}

// The last transaction of each signer that has a cost: only those under way have higher nonces.
const lastCost = `
  SELECT max(t.cost / t.nfts) AS cost FROM mint_lanes g
  CROSS JOIN LATERAL (
    SELECT t.cost, (SELECT count(*) FROM mint_transaction_nfts l WHERE l.transaction_id = t.id) AS nfts
    FROM mint_transactions t WHERE t.chain_id = g.chain_id AND t.signer = g.signer AND t.cost IS NOT NULL
      AND EXISTS (SELECT FROM mint_transaction_nfts l WHERE l.transaction_id = t.id)
    ORDER BY t.nonce DESC LIMIT 1) t
  WHERE g.chain_id = b.chain_id`;

// Before the first mint of a network has a cost, nothing says how many mints a budget allows. Mints that are accepted
// until then cost what they cost.
const unpricedMints = 100;
// The first mint has the network's confirmations by then, or soon.
const unpricedSeconds = 60;

/**
 * Mints on their way count like paid mints, at the price of the last mint: a queue that stalls, or a burst, may be
 * larger than any budget. The fee of an attempt does not pay for the next attempt. No more mints are counted than the
 * budget allows. Where mints cost nothing, a budget has room for any number, and none is counted.
 */
const gasRooms = `
  SELECT json_object_agg(a.chain_id, json_build_object('mints', greatest(a.most - w.count, 0), 'isOfDay', a.is_of_day)) AS rooms
  FROM (
    SELECT b.chain_id, c.cost = 0 AS is_free, c.cost IS NOT NULL OR b.wei_per_day <= coalesce(d.wei, 0) AS is_of_day,
      CASE WHEN b.wei_per_day <= coalesce(d.wei, 0) THEN 0
      WHEN c.cost IS NULL THEN ${unpricedMints}
      ELSE least(ceil((b.wei_per_day - coalesce(d.wei, 0)) / nullif(c.cost, 0)), 1000000000)::int END AS most
    FROM company_gas_budgets b
    LEFT JOIN company_gas_days d ON d.company_id = b.company_id AND d.chain_id = b.chain_id AND d.day = ${today}
    CROSS JOIN LATERAL (${lastCost}) c
    WHERE b.company_id = $1 AND b.chain_id = ANY ($2::bigint[])) a
  CROSS JOIN LATERAL (
    SELECT count(*)::int FROM (
      SELECT FROM nfts n WHERE n.company_id = $1 AND n.mint_state IN ('queued', 'submitted')
        AND n.mint_chain_id = a.chain_id
        AND NOT EXISTS (SELECT FROM mint_transaction_nfts l JOIN mint_transactions t ON t.id = l.transaction_id
          WHERE l.nft_id = n.id AND l.state = 'open' AND t.cost IS NOT NULL)
      LIMIT CASE WHEN a.is_free THEN 0 ELSE a.most END) n) w`;

// In one order, so that no two transactions wait for each other.
const gasLock = `
  SELECT pg_advisory_xact_lock(hashtextextended(concat_ws(E'\\x01', 'gas budget', $1::text, b.chain_id), 0))
  FROM unnest($2::bigint[]) AS b (chain_id) ORDER BY b.chain_id`;

export type GasRoom = {
  /** Further mints. */
  readonly mints: number;
  /** Whether the next day brings more, and not the first mint that says what one costs. */
  readonly isOfDay: boolean;
};

/**
 * How many further mints the budgets for gas allow; locked until the transaction ends, each network of the company by
 * itself. It counts under the lock, so that it sees what another transaction accepted meanwhile.
 * @returns of each network that still has a budget
 */
export async function lockGasRoom(
  tx: Tx,
  companyId: string,
  chainIds: readonly string[],
): Promise<ReadonlyMap<string, GasRoom>> {
  if (chainIds.length === 0) return new Map();
  const [, { rows }] = await together([
    prepared(tx, 'gas_lock', gasLock, [companyId, chainIds]),
    prepared<{ rooms: Record<string, GasRoom> | null }>(tx, 'gas_rooms', gasRooms, [companyId, chainIds]),
  ]);
  return new Map(Object.entries(rows[0]?.rooms ?? {}));
}

/** How many were accepted; locked until the transaction ends. */
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
 * Rejects the mints, in their order, that the company's limits do not allow, and counts the others. Mints that were
 * accepted before are not counted again.
 */
export async function keepWithinQuota<R>(
  tx: Tx,
  companyId: string,
  outcomes: Map<R, MintOutcome>,
  limits: MintLimits | undefined,
): Promise<void> {
  if (limits === undefined || ![...outcomes.values()].some(({ kind }) => kind === 'queued')) return;
  const { day, quota, budgeted, secondsLeft } = limits;
  const acceptedOn = new Map<string, number>();
  const left = quota === null ? null : quota - (await lockAccepted(tx, companyId, day));
  const gasRoom = await lockGasRoom(tx, companyId, chainsOf(outcomes, budgeted));
  const refusedNfts = new Map<string, number>();
  let accepted = 0n;
  /** Until it may be asked for again; undefined where it may be now. */
  const waitSeconds = (outcome: MintOutcome) => {
    if (outcome.kind === 'known') return refusedNfts.get(outcome.nftId);
    if (outcome.kind !== 'queued') return undefined;
    if (left !== null && accepted >= left) return secondsLeft;
    const room = gasRoom.get(outcome.chainId);
    if (room === undefined || (acceptedOn.get(outcome.chainId) ?? 0) < room.mints) return undefined;
    return room.isOfDay ? secondsLeft : Math.min(secondsLeft, unpricedSeconds);
  };
  for (const [request, outcome] of outcomes) {
    const seconds = waitSeconds(outcome);
    if (seconds !== undefined) outcomes.set(request, refuse(quotaExceeded(seconds)));
    if (outcome.kind !== 'queued') continue;
    if (seconds !== undefined) refusedNfts.set(outcome.nftId, seconds);
    else {
      accepted += 1n;
      acceptedOn.set(outcome.chainId, (acceptedOn.get(outcome.chainId) ?? 0) + 1);
    }
  }
  if (left === null || accepted === 0n) return;
  await tx.raw('UPDATE company_mint_days SET accepted = accepted + ? WHERE company_id = ? AND day = ?', [
    accepted.toString(),
    companyId,
    day,
  ]);
}

function chainsOf(outcomes: ReadonlyMap<unknown, MintOutcome>, among: readonly string[]): readonly string[] {
  const chains = [...outcomes.values()].flatMap((each) => (each.kind === 'queued' ? [each.chainId] : []));
  return among.filter((chainId) => chains.includes(chainId));
}

const quotaExceeded = (seconds: number) =>
  problem('mint_quota_exceeded', {}, { headers: { 'Retry-After': String(seconds) } });
