import type { operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import { problem } from '../../errors.ts';
import type { RwaStore } from '../assets/rwa-store.ts';
import { pageOf } from './page.ts';
import { toApiRwa, toApiRwaDetail } from './to-api.ts';

type RwaOperations = Pick<operations, 'listRwas' | 'getRwa'>;

export function createRwaReaders({ rwas }: { rwas: RwaStore }): Handlers<RwaOperations, CompanyContext> {
  return {
    async listRwas({ query }, { companyId }) {
      const page = pageOf(query);
      const [total, found] = await Promise.all([
        rwas.count(companyId, query),
        rwas.list(companyId, query, page),
      ]);
      return { status: 200, body: { total, ...page, rwas: found.map(toApiRwa) } };
    },
    async getRwa({ path }, { companyId }) {
      const rwa = await rwas.find(companyId, path.id);
      if (rwa === undefined) throw problem('rwa_not_found');
      return { status: 200, body: toApiRwaDetail(rwa) };
    },
  };
}
