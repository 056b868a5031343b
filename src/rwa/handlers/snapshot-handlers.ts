import { problem } from '../../base/errors.ts';
import { parseAddress } from '../../chain/address.ts';
import { type Batches, readInBatches } from '../../contract/batches.ts';
import { basePaths } from '../../contract/documents.ts';
import type { components, operations } from '../../contract/generated/rwa.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import type { Database } from '../../contract/transaction.ts';
import { inRounds, type Lacks } from '../../db/connection/rounds.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { recordByKey } from '../../db/records/audit-store.ts';
import type { RwaDetail } from '../assets/rwa-row.ts';
import { findRwa } from '../assets/rwa-store.ts';
import { acceptSnapshot, assertFewPending } from '../ownership/accept-snapshot.ts';
import { type AsOf, findAsOf } from '../ownership/as-of.ts';
import type { Holder } from '../ownership/holder-store.ts';
import {
  deleteSnapshot,
  findSnapshot,
  findSnapshotHolder,
  listSnapshotHolders,
  type Snapshot,
} from '../ownership/snapshot-store.ts';
import { asOfOf, findLedger, holdersCsv, nodeOf, type OwnershipDeps } from './ownership-handlers.ts';

type Schemas = components['schemas'];
type SnapshotOperations = Pick<
  operations,
  'createSnapshot' | 'getSnapshot' | 'deleteSnapshot' | 'getSnapshotProof'
>;

type Accepted = {
  readonly status: 202;
  readonly headers: { readonly Location: string };
  readonly body: Schemas['Snapshot'];
};

export type SnapshotDeps = OwnershipDeps & {
  /** Holders that the snapshots of a company may store. */
  readonly mostHolders: number;
};

/** Snapshots of the holders of a company's RWAs. */
export function createSnapshotHandlers(deps: SnapshotDeps): Handlers<SnapshotOperations, CompanyContext> {
  const { db, mostHolders } = deps;
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
      const asked = { asOf: text === undefined ? undefined : asOfOf(text), text: text ?? '' };
      const attempt = (at: BlockOf | undefined, lacks: Lacks<BlockOf>): Promise<Accepted> =>
        once(async (tx) => {
          const rwa = await findRwa(tx, companyId, path.id);
          if (rwa === undefined) throw problem('rwa_not_found');
          if (at?.contract !== placeOf(rwa)) {
            // A moment costs many questions to a node.
            if (asked.asOf !== undefined && 'time' in asked.asOf) await assertFewPending(tx, companyId);
            throw lacks(() => findBlock(deps, rwa, asked));
          }
          const { snapshot, isNew } = await acceptSnapshot(tx, rwa, at.block, mostHolders);
          const details = { rwaId: rwa.id, block: snapshot.block };
          const entry = { action: 'snapshot.create', companyId, subject: snapshot.id, details };
          if (isNew) await recordByKey(tx, entry, origin);
          const headers = { Location: `${basePaths.rwa}/snapshot/${snapshot.id}` };
          return { status: 202, headers, body: toApiSnapshot(snapshot) } as const;
        });
      return inRounds(attempt, () => problem('service_unavailable'));
    },

    deleteSnapshot: ({ path: { id } }, { companyId, origin }) =>
      inTransaction(db, async (tx) => {
        if (!(await deleteSnapshot(tx, companyId, id))) throw problem('snapshot_not_found');
        await recordByKey(tx, { action: 'snapshot.delete', companyId, subject: id }, origin);
        return { status: 204 } as const;
      }),

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

/** A block, and the contract whose ledger has read it. */
type BlockOf = { readonly contract: string; readonly block: bigint };

const placeOf = ({ chainId, contractAddress }: RwaDetail) => `${chainId}:${contractAddress}`;
const place = { in: 'body', pointer: '/asOf' } as const;

/** Finds the block that a caller asks for. It may ask a node, so no transaction is open. */
async function findBlock(
  deps: SnapshotDeps,
  rwa: RwaDetail,
  { asOf, text }: { readonly asOf: AsOf | undefined; readonly text: string },
): Promise<BlockOf> {
  const ledger = await findLedger(deps.db, rwa);
  const { number } = await findAsOf(await nodeOf(deps, rwa), ledger, asOf, { text, place });
  return { contract: placeOf(rwa), block: number };
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
