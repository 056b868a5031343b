import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { problem } from '../../errors.ts';
import { countRwas, findRwa, listRwas } from '../assets/rwa-store.ts';
import { pageOf } from './page.ts';
import { toApiRwa, toApiRwaDetail } from './to-api.ts';

type RwaOperations = Pick<operations, 'listRwas' | 'getRwa'>;

type Deps = { readonly db: Database };

/** The RWAs of a company. */
export function createRwaHandlers({ db }: Deps): Handlers<RwaOperations, CompanyContext> {
  return {
    async listRwas({ query }, { companyId }) {
      const page = pageOf(query);
      const [total, found] = await Promise.all([
        countRwas(db, companyId, query),
        listRwas(db, companyId, query, page),
      ]);
      return { status: 200, body: { total, ...page, rwas: found.map(toApiRwa) } };
    },
    async getRwa({ path }, { companyId }) {
      const rwa = await findRwa(db, companyId, path.id);
      if (rwa === undefined) throw problem('rwa_not_found');
      return { status: 200, body: toApiRwaDetail(rwa) };
    },
  };
}
