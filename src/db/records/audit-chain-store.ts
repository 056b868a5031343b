import { createHash } from 'node:crypto';
import type { Database, Tx } from '../../contract/transaction.ts';
import { inTransaction } from '../connection/transaction.ts';

/*
 * Table `audit_chain`: each entry of the audit log with its place in one chain of hashes, so that a person who has kept
 * a hash notices any change of the entries before it.
 */

/** The place of an entry; position 1 is the first. */
export type Link = { readonly position: bigint; readonly hash: Buffer };

/** A link as the log and `tallystick audit verify` print it. */
export const linkText = ({ position, hash }: Link): string => `${position}:${hash.toString('hex')}`;

const origin: Link = { position: 0n, hash: Buffer.alloc(32) };

// The text of jsonb is the same for the same values, whatever order they were written in.
const digest = `sha256(convert_to(jsonb_build_array(a.id, to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
  a.actor_kind, a.actor, a.origin, a.database_user, a.company_id, a.action, a.subject, a.request_id, a.details)::text,
  'UTF8'))`;

const linkTo = (before: Buffer, entry: Buffer) => createHash('sha256').update(before).update(entry).digest();

type LinkRow = { position: string; hash: Buffer };

/** Returns the last link; position 0 when the chain is empty. */
export async function findHead(db: Database): Promise<Link> {
  const { rows }: { rows: LinkRow[] } = await db.raw(
    'SELECT position, hash FROM audit_chain ORDER BY position DESC LIMIT 1',
  );
  const [row] = rows;
  return row === undefined ? origin : { position: BigInt(row.position), hash: row.hash };
}

const batchSize = 5_000;

/**
 * Chains entries that are committed and not chained. One process does so at a time. Another process that tries returns
 * at once.
 * @returns how many were chained
 */
export async function chainAudit(db: Database): Promise<number> {
  let chained = 0;
  for (const wanted of [late, further]) {
    for (let count = batchSize; count === batchSize; chained += count)
      count = await inTransaction(db, (tx) => chainBatch(tx, wanted));
  }
  return chained;
}

const lateMinutes = 15;
// A transaction may commit an entry after later entries were chained. No transaction is open for longer than some
// minutes. These count from the newest chained entry, however old that is: nothing may have been chained for hours
// since.
const late = `a.id < :newest AND a.at > :from::timestamptz
  AND NOT EXISTS (SELECT FROM audit_chain c WHERE c.entry_id = a.id)`;
const further = 'a.id > :newest';

/** The newest entry that is chained, and from when on one before it may be late. */
async function findNewest(tx: Tx): Promise<{ readonly newest: string; readonly from: string }> {
  const { rows } = await tx.raw(
    `SELECT newest, coalesce((a.at - interval '${lateMinutes} minutes')::text, 'infinity') AS "from"
     FROM (SELECT coalesce(max(entry_id), 0) AS newest FROM audit_chain) c LEFT JOIN audit_log a ON a.id = newest`,
  );
  return rows[0];
}

async function chainBatch(tx: Tx, wanted: string): Promise<number> {
  const lock = await tx.raw(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('tallystick audit', 0)) AS got`,
  );
  if (lock.rows[0]?.got !== true) return 0;
  // Asked for by their values. Without the values the planner cannot estimate the number of rows, and reads all.
  const { rows }: { rows: { id: string; digest: Buffer }[] } = await tx.raw(
    `SELECT a.id, ${digest} AS digest FROM audit_log a WHERE ${wanted} ORDER BY a.id LIMIT ${batchSize}`,
    await findNewest(tx),
  );
  if (rows.length === 0) return 0;
  let { position, hash } = await findHead(tx);
  const links = rows.map((row) => {
    position += 1n;
    hash = linkTo(hash, row.digest);
    return { position: position.toString(), id: row.id, hash };
  });
  await tx.raw(
    'INSERT INTO audit_chain (position, entry_id, hash) SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::bytea[])',
    [links.map((link) => link.position), links.map(({ id }) => id), links.map((link) => link.hash)],
  );
  return links.length;
}

/** Returns the faults of the log. */
type AuditFault = {
  readonly kind: 'altered' | 'backdated' | 'missing entry' | 'missing link' | 'not chained' | 'other head';
  /** Of the link; null for an entry without one. */
  readonly position: string | null;
  readonly entryId: string | null;
};

export type AuditVerification = {
  /** The last link that was verified. */
  readonly head: Link;
  readonly faults: readonly AuditFault[];
};

type VerifyOptions = {
  /** A link that was noted before: the log must still have it. */
  readonly noted?: Link | undefined;
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
};

// So many are listed; one is enough to know.
const mostFaults = 1_000;
const pageSize = 10_000;

/** Verifies the whole chain, page by page. */
export async function verifyAudit(
  db: Database,
  { noted, onProgress = () => {}, signal }: VerifyOptions = {},
): Promise<AuditVerification> {
  const end = await findHead(db);
  const faults: AuditFault[] = [];
  let before: Verified = { ...origin, at: null };
  while (before.position < end.position && faults.length < mostFaults) {
    signal?.throwIfAborted();
    const page = await readPage(db, before.position);
    if (page.length === 0) break;
    for (const link of page) {
      faults.push(...judge(before, link, noted));
      before = { position: BigInt(link.position), hash: link.hash, at: link.at ?? before.at };
    }
    onProgress(Number(before.position), Number(end.position));
  }
  if (noted !== undefined && noted.position > before.position) faults.push(otherHead(noted));
  faults.push(...(await findUnchained(db)));
  return { head: before, faults: faults.slice(0, mostFaults) };
}

/** A link that was verified, and the time of the newest entry up to it that is there. */
type Verified = Link & { readonly at: Date | null };
/** Digest and time of the entry, null where the entry is missing. */
type PageRow = LinkRow & { entry_id: string; digest: Buffer | null; at: Date | null };

async function readPage(db: Database, after: bigint): Promise<PageRow[]> {
  const { rows } = await db.raw(
    `SELECT c.position, c.entry_id, c.hash, CASE WHEN a.id IS NOT NULL THEN ${digest} END AS digest, a.at
     FROM audit_chain c LEFT JOIN audit_log a ON a.id = c.entry_id
     WHERE c.position > ? ORDER BY c.position LIMIT ${pageSize}`,
    [after.toString()],
  );
  return rows;
}

function judge(before: Verified, link: PageRow, noted: Link | undefined): AuditFault[] {
  const { position, entry_id: entryId, hash, digest: entry } = link;
  const faults: AuditFault[] = [];
  if (BigInt(position) !== before.position + 1n) {
    faults.push({ kind: 'missing link', position: (before.position + 1n).toString(), entryId: null });
  } else if (entry === null) faults.push({ kind: 'missing entry', position, entryId });
  else if (!linkTo(before.hash, entry).equals(hash)) faults.push({ kind: 'altered', position, entryId });
  if (isBackdated(before.at, link.at)) faults.push({ kind: 'backdated', position, entryId });
  if (noted?.position === BigInt(position) && !noted.hash.equals(hash)) faults.push(otherHead(noted));
  return faults;
}

// An entry gets its time when it is inserted and its place once it is committed. What commits later than so is not chained, and
// clocks of servers of which one takes over from another differ by less.
const isBackdated = (before: Date | null, at: Date | null) =>
  before !== null && at !== null && before.getTime() - at.getTime() > lateMinutes * 60_000;

const otherHead = ({ position }: Link): AuditFault => ({
  kind: 'other head',
  position: position.toString(),
  entryId: null,
});

/** Entries that should be chained by now. */
async function findUnchained(db: Database): Promise<AuditFault[]> {
  const { rows }: { rows: { id: string }[] } = await db.raw(
    `SELECT a.id FROM audit_log a LEFT JOIN audit_chain c ON c.entry_id = a.id
     WHERE c.entry_id IS NULL AND a.at < clock_timestamp() - interval '${lateMinutes} minutes' ORDER BY a.id LIMIT ${mostFaults}`,
  );
  return rows.map(({ id }) => ({ kind: 'not chained', position: null, entryId: id }));
}
