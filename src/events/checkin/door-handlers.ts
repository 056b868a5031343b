import { arrayOf } from '../../contract/batches.ts';
import type { components, operations } from '../../contract/generated/events.ts';
import { arrayPageHeaders, cutPage, positionOf } from '../../contract/list-cursor.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { MayLag } from '../../db/replica/replica-reads.ts';
import { existing } from '../event-rules.ts';
import { findEvent } from '../event-store.ts';
import { type ListedScan, listScans, readAllScans } from './scan-list-store.ts';
import { scansCsv } from './scans-csv.ts';
import { summarizeScans } from './summary-store.ts';
import type { Tickets } from './tickets.ts';

type Parts = {
  readonly db: Database;
  readonly mayLag: MayLag;
  readonly tickets: Tickets;
  /** Path of the events area, such as `/events/v1/api`. */
  readonly basePath: string;
};

type DoorOperations = Pick<operations, 'getCheckInSummary' | 'listCheckInScans' | 'getDoor'>;

/** What a scanner and an organiser read of a door. */
export function createDoorHandlers({
  db,
  mayLag,
  tickets,
  basePath,
}: Parts): Handlers<DoorOperations, CompanyContext> {
  return {
    async getCheckInSummary({ path: { eventId } }, { companyId }) {
      const { hours, gates, ...totals } = existing(
        await mayLag((from) => summarizeScans(from, companyId, eventId)),
      );
      const begins = hours.map(({ hour, ...counts }) => ({ hour: new Date(hour).toISOString(), ...counts }));
      return { status: 200, body: { ...totals, gates: [...gates], hours: begins } };
    },

    async listCheckInScans({ path: { eventId }, query }, { companyId, preferred }) {
      const asked = { companyId, path: `${basePath}/event/${eventId}/checkin/scans`, query };
      const [after] = positionOf(asked, /^(\d{1,18})$/) ?? [];
      const key = { companyId, eventId };
      const { limit } = query;
      const isFile = preferred(['application/json', 'text/csv']) === 'text/csv';
      if (isFile || limit === undefined) {
        const scans = existing(await readAllScans(mayLag, key, after));
        return { status: 200, body: isFile ? scansCsv(scans) : arrayOf(scans, scanToApi) };
      }
      const found = existing(await mayLag((from) => listScans(from, key, { after, limit: limit + 1 })));
      const { rows, cursor } = cutPage(asked, found, limit, ({ seq }) => seq);
      return { status: 200, body: rows.map(scanToApi), headers: arrayPageHeaders(asked, cursor) };
    },

    async getDoor({ path: { eventId } }, { companyId }) {
      const event = existing(await findEvent(db, companyId, eventId));
      const { id, name, location, startDate, endDate, ticketsOnly } = event;
      const body = {
        eventId: id,
        name,
        location,
        acceptsIds: !ticketsOnly,
        keys: [...tickets.publicKeys],
        startDate: startDate?.toISOString() ?? null,
        endDate: endDate?.toISOString() ?? null,
        now: new Date().toISOString(),
      };
      return { status: 200, body };
    },
  };
}

const scanToApi = ({ seq: _, at, receivedAt, ...scan }: ListedScan): components['schemas']['KeptScan'] => ({
  ...scan,
  at: at.toISOString(),
  receivedAt: receivedAt.toISOString(),
});
