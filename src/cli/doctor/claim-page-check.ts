import type { Config } from '../../config/config.ts';
import type { Database } from '../../contract/transaction.ts';
import { findClosedExports } from '../../rwa/operators/closed-export-store.ts';
import { type Finding, warning } from '../shared/finding.ts';
import { leadsToOwnPage } from '../shared/values.ts';

const mostNamed = 3;

/**
 * Returns a warning where claim codes of an RWA were exported, and its claim page is off: people who scan the codes
 * cannot claim.
 */
export async function examineExports(db: Database, config: Config): Promise<Finding[]> {
  if (!leadsToOwnPage(config)) return [];
  const { count, ids } = await findClosedExports(db, mostNamed);
  if (count === 0) return [];
  const named = `${ids.join(', ')}${count > ids.length ? ', …' : ''}`;
  const detail = `RWAs whose codes were exported while their claim page is off: ${count} (${named}); tallystick rwa claim-page <id> on`;
  return [warning('claim pages', detail)];
}
