import { problem } from '../../base/errors.ts';
import { basePaths } from '../../contract/documents.ts';
import type { operations } from '../../contract/generated/rwa.ts';
import { cutPage, nextLink, positionOf, timedForm } from '../../contract/list-cursor.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import type { MayLag } from '../../db/replica/replica-reads.ts';
import { countRwas, findRwa, listRwas, type RwaPlace } from '../assets/rwa-store.ts';
import { rwaTag } from './change-handlers.ts';
import { pageOf } from './page.ts';
import { toApiRwa, toApiRwaDetail } from './to-api.ts';

type RwaOperations = Pick<operations, 'listRwas' | 'getRwa'>;

type Deps = { readonly db: Database; readonly mayLag: MayLag };

/** The RWAs of a company. */
export function createRwaHandlers({ db, mayLag }: Deps): Handlers<RwaOperations, CompanyContext> {
  return {
    async listRwas({ query }, { companyId }) {
      const asked = { companyId, path: `${basePaths.rwa}/rwa`, query };
      const [createdMicros, id] = positionOf(asked, timedForm) ?? [];
      const { limit, offset } = pageOf(query);
      const start =
        createdMicros === undefined || id === undefined
          ? { offset }
          : { after: { createdMicros: BigInt(createdMicros), id } };
      const { total, found } = await mayLag(async (from) => ({
        total: await countRwas(from, companyId, query),
        found: await listRwas(from, companyId, query, { limit: limit + 1, ...start }),
      }));
      const { rows, cursor = null } = cutPage(asked, found, limit, ({ place }) => positionText(place));
      const body = { total, limit, offset, cursor, rwas: rows.map(toApiRwa) };
      return { status: 200, body, headers: nextLink(asked, cursor ?? undefined) };
    },
    async getRwa({ path }, { companyId }) {
      const rwa = await findRwa(db, companyId, path.id);
      if (rwa === undefined) throw problem('rwa_not_found');
      return { status: 200, body: toApiRwaDetail(rwa), headers: { ETag: rwaTag(rwa) } };
    },
  };
}

const positionText = ({ createdMicros, id }: RwaPlace) => `${createdMicros}.${id}`;
