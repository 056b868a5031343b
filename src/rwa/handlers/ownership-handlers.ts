import { csvLine } from '../../base/csv.ts';
import { problem } from '../../base/errors.ts';
import { isZeroAddress } from '../../chain/address.ts';
import { createMintNode, type MintNode } from '../../chain/minting/mint-node.ts';
import type { NetworkRegistry } from '../../chain/networks.ts';
import type { RpcClients } from '../../chain/rpc/client/rpc-clients.ts';
import { type Batches, readInBatches } from '../../contract/batches.ts';
import { basePaths } from '../../contract/documents.ts';
import type { components, operations } from '../../contract/generated/rwa.ts';
import { arrayPageHeaders, cutPage, nextLink, positionOf } from '../../contract/list-cursor.ts';
import type { CompanyContext, Handlers } from '../../contract/operation.ts';
import { TextStream } from '../../contract/text-stream.ts';
import type { Database } from '../../contract/transaction.ts';
import { hasNft } from '../assets/nft-store.ts';
import type { RwaDetail } from '../assets/rwa-row.ts';
import { findRwa } from '../assets/rwa-store.ts';
import { type AsOf, findAsOf } from '../ownership/as-of.ts';
import {
  countHeld,
  findRwaLedger,
  type Holder,
  type HolderTotals,
  listHolders,
  type RwaLedger,
} from '../ownership/holder-store.ts';
import { countTransfers, listTransfers, type StoredTransfer } from '../ownership/transfer-store.ts';
import { momentOf } from './nft-filter.ts';
import { absentNft } from './nft-handlers.ts';
import { pageOf } from './page.ts';

type Schemas = components['schemas'];
type OwnershipOperations = Pick<operations, 'listNftTransfers' | 'listRwaHolders'>;

export type OwnershipDeps = {
  readonly db: Database;
  readonly networks: Pick<NetworkRegistry, 'find'>;
  readonly clients: Pick<RpcClients, 'for'>;
};

const transferPlace = /^(\d{1,78})\.(\d{1,18})$/;
const holderPlace = /^(\d{1,78})\.(0x[0-9a-f]{64})\.(0x[0-9a-fA-F]{40})$/;
const tokensOfHolder = 1_000;
// Each batch of a file reads all transfers of the RWA again, so few are better.
const holdersAtOnce = 5_000;

/** The present and earlier owners of the NFTs of a company, as the chain says. */
export function createOwnershipHandlers(deps: OwnershipDeps): Handlers<OwnershipOperations, CompanyContext> {
  const { db } = deps;
  return {
    async listNftTransfers({ path, query }, { companyId }) {
      const asked = { companyId, path: `${basePaths.rwa}/nft/${path.id}/transfers`, query };
      const [block, logIndex] = positionOf(asked, transferPlace) ?? [];
      const after = block === undefined || logIndex === undefined ? undefined : { block, logIndex };
      if (!(await hasNft(db, companyId, path.id))) throw await absentNft(db, companyId, path.id);
      const { limit } = pageOf(query);
      const total = await countTransfers(db, companyId, path.id);
      const found = await listTransfers(db, companyId, path.id, { limit: limit + 1, after });
      const { rows, cursor } = cutPage(asked, found, limit, (row) => `${row.block}.${row.logIndex}`);
      const headers = { 'X-Total-Count': String(total), ...arrayPageHeaders(asked, cursor) };
      return { status: 200, body: rows.map(toApiTransfer), headers };
    },

    async listRwaHolders({ path, query }, { companyId, preferred }) {
      const asked = { companyId, path: `${basePaths.rwa}/rwa/${path.id}/holders`, query };
      const [number, hash, after] = positionOf(asked, holderPlace) ?? [];
      const asOf = query.asOf === undefined ? undefined : asOfOf(query.asOf);
      const rwa = await findRwa(db, companyId, path.id);
      if (rwa === undefined) throw problem('rwa_not_found');
      const ledger = await findLedger(db, rwa);
      const of = number === undefined ? asOf : { block: BigInt(number) };
      const block = await findAsOf(await nodeOf(deps, rwa), ledger, of, {
        text: number ?? query.asOf ?? '',
        place: inQuery,
      });
      // Its block was replaced since.
      if (hash !== undefined && hash !== block.hash) throw problem('cursor_invalid');
      const isFile = preferred(['application/json', 'text/csv']) === 'text/csv';
      const totals = await countHeld(db, rwa, block.number);
      const read = async (page: Parameters<typeof listHolders>[3]) => {
        const found = await listHolders(db, rwa, block.number, page);
        // Rows of another branch may be among them.
        const now = await findLedger(db, rwa);
        if (now.rollBacks !== ledger.rollBacks) throw problem('service_unavailable');
        return found;
      };
      const finality = block.number <= (ledger.final ?? -1n) ? 'final' : 'confirmed';
      const headers = {
        'X-Block-Number': block.number.toString(),
        'X-Block-Hash': block.hash,
        'X-Block-Finality': finality,
        'X-Not-Held': String(totals.minted - totals.held),
      } as const;
      if (isFile) {
        const batches = await readInBatches<Holder>(async (last) => {
          const items = await read({ after: last?.wallet ?? after, limit: holdersAtOnce });
          return { items, isLast: items.length < holdersAtOnce };
        });
        return { status: 200, headers, body: holdersCsv(batches, totals.held) };
      }
      const { limit } = pageOf(query);
      const found = await read({ after, limit: limit + 1, tokens: tokensOfHolder });
      const { rows, cursor } = cutPage(
        asked,
        found,
        limit,
        ({ wallet }) => `${block.number}.${block.hash}.${wallet}`,
      );
      const body: Schemas['HolderList'] = {
        block: block.number.toString(),
        blockHash: block.hash,
        blockTime: block.time.toISOString(),
        finality,
        minted: totals.minted,
        held: totals.held,
        differences: differencesOf(totals),
        cursor: cursor ?? null,
        holders: rows.map((holder) => ({
          ...holder,
          tokenIds: [...holder.tokenIds],
          share: shareOf(holder, totals.held),
        })),
      };
      return { status: 200, body, headers: { ...headers, ...nextLink(asked, cursor) } };
    },
  };
}

/** @throws problem `owners_unread` */
export async function findLedger(db: Database, rwa: RwaDetail): Promise<RwaLedger> {
  const ledger = await findRwaLedger(db, rwa);
  if (ledger === undefined) throw problem('owners_unread');
  return ledger;
}

export async function nodeOf(
  { networks, clients }: OwnershipDeps,
  { chainId }: RwaDetail,
): Promise<MintNode> {
  const network = await networks.find(chainId);
  if (network === undefined) throw problem('service_unavailable');
  return createMintNode(clients.for(network));
}

const inQuery = { in: 'query', name: 'asOf' } as const;

/** @throws problem `input_invalid` */
export const asOfOf = (text: string): AsOf =>
  /^\d+$/.test(text) ? { block: BigInt(text) } : { time: momentOf(text, 'asOf') };

const walletOf = (address: string) => (isZeroAddress(address) ? null : address);

const toApiTransfer = (transfer: StoredTransfer): Schemas['OwnershipTransfer'] => ({
  fromWallet: walletOf(transfer.from),
  toWallet: walletOf(transfer.to),
  block: transfer.block,
  blockHash: transfer.blockHash,
  time: transfer.time.toISOString(),
  transaction: transfer.transaction,
  logIndex: transfer.logIndex,
  finality: transfer.isFinal ? 'final' : 'confirmed',
});

/** The reasons add up to the difference between minted NFTs and NFTs with an owner. */
const differencesOf = (totals: HolderTotals): Schemas['HolderDifference'][] =>
  (
    [
      { reason: 'burned', count: totals.burned },
      { reason: 'minted_later', count: totals.mintedLater },
      { reason: 'no_transfer', count: totals.noTransfer },
      { reason: 'not_recorded', count: -totals.notRecorded },
    ] as const
  ).filter(({ count }) => count !== 0);

const shareOf = ({ count }: Holder, held: number): number => (held === 0 ? 0 : count / held);

const bytesOf = (holders: readonly Holder[]) =>
  holders.reduce((sum, { count }) => sum + 200 + 100 * count, 0);

/** The holders as CSV; with their shares of what all own. */
export function holdersCsv({ first, rest }: Batches<Holder>, held: number): TextStream {
  const stream = new TextStream('text/csv; charset=utf-8', pieces(), bytesOf(first));
  return stream;

  async function* pieces(): AsyncGenerator<string> {
    yield csvLine(['wallet', 'count', 'share', 'token_ids']);
    yield linesOf(first, held);
    for await (const batch of rest ?? []) {
      stream.heldBytes = bytesOf(batch);
      yield linesOf(batch, held);
    }
  }
}

const linesOf = (holders: readonly Holder[], held: number) =>
  holders
    .map((holder) =>
      csvLine([
        holder.wallet,
        String(holder.count),
        String(shareOf(holder, held)),
        holder.tokenIds.join(' '),
      ]),
    )
    .join('');
