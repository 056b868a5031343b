import { type AskedList, arrayPageHeaders, cutPage, positionOf } from '../../contract/list-cursor.ts';
import type { Database } from '../../contract/transaction.ts';
import type { NftFilter } from '../assets/nft-filter.ts';
import type { Nft } from '../assets/nft-row.ts';
import { countNfts, listNfts, type NftStart } from '../assets/nft-store.ts';
import { pageOf } from './page.ts';

// Both are integers of the database, of eight bytes.
const placeForm = /^(\d{1,18}|[1-8]\d{18})\.(\d{1,18})$/;

type NftPage = { readonly nfts: Nft[]; readonly headers: Readonly<Record<string, string>> };

/**
 * Reads a query beyond the document, before anything is queried.
 * @throws problem `cursor_invalid` or `input_invalid`
 */
export function nftPageOf(asked: AskedList): AskedPage {
  const [rwaNumber, serial] = positionOf(asked, placeForm) ?? [];
  const { limit, offset } = pageOf(asked.query);
  const start =
    rwaNumber === undefined || serial === undefined
      ? { offset }
      : { after: { rwaNumber: BigInt(rwaNumber), serial: BigInt(serial) } };
  return { asked, limit, start };
}

type AskedPage = { readonly asked: AskedList; readonly limit: number; readonly start: NftStart };

/** A page of NFTs, and the headers of its answer. */
export async function readNftPage(
  db: Database,
  { asked, limit, start }: AskedPage,
  filter: NftFilter,
): Promise<NftPage> {
  const { companyId } = asked;
  const total = await countNfts(db, companyId, filter);
  const found = await listNfts(db, companyId, filter, { limit: limit + 1, ...start });
  const { rows, cursor } = cutPage(asked, found, limit, (nft) => `${nft.rwaNumber}.${nft.serial}`);
  return { nfts: rows, headers: { 'X-Total-Count': String(total), ...arrayPageHeaders(asked, cursor) } };
}
