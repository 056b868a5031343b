import type { Database } from '../../contract/transaction.ts';
import { findOperatorRwa, type OperatorRwa } from '../../rwa/operators/rwa-admin-store.ts';
import { UsageError } from '../shared/failure.ts';
import { isUuid } from '../shared/values.ts';

/** An RWA as commands print it: its number, which is part of token ids, as text; its counters as integers. */
export const shown = ({ number, totalNfts, claimedNfts, ownClaimBaseUrl: _, ...rwa }: OperatorRwa) => ({
  ...rwa,
  number: String(number),
  totalNfts: Number(totalNfts),
  claimedNfts: Number(claimedNfts),
});

/** @throws UsageError when no RWA has this id */
export async function findRwaRecord(db: Database, id: string): Promise<OperatorRwa> {
  const found = isUuid(id) ? await findOperatorRwa(db, id) : undefined;
  if (found === undefined) throw new UsageError(`There is no RWA ${id}. List them with: tallystick rwa list`);
  return found;
}
