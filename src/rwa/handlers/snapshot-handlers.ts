import { problem } from '../../base/errors.ts';
import { parseAddress } from '../../chain/address.ts';
import { type Batches, readInBatches } from '../../contract/batches.ts';
import { basePaths } from '../../contract/documents.ts';
import type { components, operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { recordByKey } from '../../db/records/audit-store.ts';
import { findRwa } from '../assets/rwa-store.ts';
import { findAsOf } from '../ownership/as-of.ts';
import type { Holder } from '../ownership/holder-store.ts';
import {
  findSnapshot,
  findSnapshotHolder,
  insertSnapshot,
  listSnapshotHolders,
  type Snapshot,
} from '../ownership/snapshot-store.ts';
import { asOfOf, findLedger, holdersCsv, nodeOf, type OwnershipDeps } from './ownership-handlers.ts';

type Schemas = components['schemas'];
type SnapshotOperations = Pick<operations, 'createSnapshot' | 'getSnapshot' | 'getSnapshotProof'>;

/** Snapshots of the holders of a company's RWAs. */
export function createSnapshotHandlers(deps: OwnershipDeps): Handlers<SnapshotOperations, CompanyContext> {
  const { db } = deps;
  const find = async (companyId: string, id: string): Promise<Snapshot> => {
    const snapshot = await findSnapshot(db, companyId, id);
    if (snapshot === undefined) throw problem('snapshot_not_found');
    return snapshot;
  };
  const takenOf = ({ taken }: Snapshot) => {
    if (taken === null) throw problem('snapshot_pending');
    return taken;
  };

  return {
    createSnapshot({ path, body }, { companyId, once, origin }) {
      const text = body?.asOf ?? undefined;
      const asOf = text === undefined ? undefined : asOfOf(text);
      return once(async (tx) => {
        const rwa = await findRwa(tx, companyId, path.id);
        if (rwa === undefined) throw problem('rwa_not_found');
        const place = { in: 'body', pointer: '/asOf' } as const;
        const asked = { text: text ?? '', place };
        const ledger = await findLedger(tx, rwa);
        const { number: block } = await findAsOf(await nodeOf(deps, rwa), ledger, asOf, asked);
        const snapshot = await insertSnapshot(tx, { companyId, rwaId: rwa.id, block });
        const details = { rwaId: rwa.id, block: block.toString() };
        await recordByKey(
          tx,
          { action: 'snapshot.create', companyId, subject: snapshot.id, details },
          origin,
        );
        const headers = { Location: `${basePaths.rwa}/snapshot/${snapshot.id}` };
        return { status: 202, headers, body: toApiSnapshot(snapshot) };
      });
    },

    async getSnapshot({ path }, { companyId, preferred }) {
      const snapshot = await find(companyId, path.id);
      if (preferred(['application/json', 'text/csv']) !== 'text/csv')
        return { status: 200, body: toApiSnapshot(snapshot) };
      const { tokenCount, holderCount } = takenOf(snapshot);
      return {
        status: 200,
        body: holdersCsv(await readHolders(db, companyId, snapshot.id, holderCount), tokenCount),
      };
    },

    async getSnapshotProof({ path, query }, { companyId }) {
      const wallet = parseAddress(query.wallet, { in: 'query', name: 'wallet' }).checksum;
      const snapshot = await find(companyId, path.id);
      const { merkleRoot } = takenOf(snapshot);
      const holder = await findSnapshotHolder(db, companyId, snapshot.id, wallet);
      if (holder === undefined || merkleRoot === null) throw problem('holder_not_found');
      const { tokenIds, proof } = holder;
      const proven = { wallet, count: tokenIds.length, tokenIds: [...tokenIds], proof: [...proof] };
      return { status: 200, body: { snapshotId: snapshot.id, ...proven, merkleRoot } };
    },
  };
}

const holdersAtOnce = 1_000;

/** Reads the holders of a snapshot in batches. A snapshot that goes away meanwhile is no shorter file: a batch rejects. */
function readHolders(
  db: Database,
  companyId: string,
  id: string,
  holderCount: number,
): Promise<Batches<Holder>> {
  let count = 0;
  return readInBatches<Holder>(async (last) => {
    const page = { after: last?.wallet ?? '', limit: holdersAtOnce };
    const found = await listSnapshotHolders(db, companyId, id, page);
    count += found.length;
    const isLast = found.length < holdersAtOnce;
    if (isLast && count !== holderCount)
      throw new Error('the snapshot went away while its holders were read');
    return { items: found.map((holder) => ({ ...holder, count: holder.tokenIds.length })), isLast };
  });
}

const toApiSnapshot = ({ id, rwaId, block, createdAt, taken }: Snapshot): Schemas['Snapshot'] => ({
  id,
  rwaId,
  state: taken === null ? 'pending' : 'taken',
  block,
  blockHash: taken?.blockHash ?? null,
  blockTime: taken?.blockTime.toISOString() ?? null,
  tokenCount: taken?.tokenCount ?? null,
  holderCount: taken?.holderCount ?? null,
  merkleRoot: taken?.merkleRoot ?? null,
  createdAt: createdAt.toISOString(),
  takenAt: taken?.at.toISOString() ?? null,
});
