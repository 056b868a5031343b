import type { Database } from '../../contract/transaction.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import type { EndpointSecrets } from './endpoint-secret.ts';
import { listSealedOtherwise, lockEndpoint, setSecrets } from './endpoint-store.ts';

/** Seals the secrets of all endpoints by the newest key. @returns how many endpoints, and the ids of those that do not open */
export async function resealEndpoints(
  db: Database,
  secrets: EndpointSecrets,
): Promise<{ readonly resealed: number; readonly failed: readonly string[] }> {
  let resealed = 0;
  const failed: string[] = [];
  for (const { id, companyId } of await listSealedOtherwise(db, secrets.activeKeyId)) {
    try {
      await inTransaction(db, async (tx) => {
        const endpoint = await lockEndpoint(tx, companyId, id);
        if (endpoint === undefined) return;
        const fresh = endpoint.secrets.map((sealed) => secrets.seal(id, secrets.open(id, sealed)));
        await setSecrets(tx, id, { ...endpoint, secrets: fresh });
        resealed += 1;
      });
    } catch (error) {
      if (!(error instanceof Error) || 'code' in error) throw error;
      failed.push(id);
    }
  }
  return { resealed, failed };
}
