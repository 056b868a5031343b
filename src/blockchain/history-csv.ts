import { csvLine } from '../base/csv.ts';
import { sizeInMemory } from '../contract/size-in-memory.ts';
import { TextStream } from '../contract/text-stream.ts';
import type {
  DataProvider,
  HistoryPage,
  HistoryQuestion,
  HistoryRecord,
  WalletCredit,
} from '../providers/shared/provider.ts';

const columns = [
  ...(['hash', 'nonce', 'transaction_index', 'from_address', 'to_address', 'value', 'gas'] as const),
  ...(['gas_price', 'receipt_gas_used', 'receipt_status', 'transaction_fee', 'block_timestamp'] as const),
  ...(['block_number', 'block_hash', 'category', 'method_label', 'possible_spam', 'summary'] as const),
  ...(['native_transfers', 'erc20_transfers', 'nft_transfers'] as const),
  ...(['created_contract', 'approvals', 'internal_calls', 'fee_payer'] as const),
] satisfies (keyof HistoryRecord)[];
/** Of credits, which have some columns of records too; only in files that ask for them. */
const creditColumns = [
  ...(['kind', 'value_formatted', 'token_symbol'] as const),
  ...(['validator_index', 'withdrawal_index'] as const),
] satisfies (keyof WalletCredit)[];

// The limit of a page of the hosted provider. Larger pages would stay in memory for longer.
const recordsAtOnce = 100;

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * All records from the question's position on, as CSV, read page by page. The first page is there when it resolves.
 * @throws what the provider throws for the first page
 */
export async function historyCsv(provider: DataProvider, question: HistoryQuestion) {
  const paged = { ...question, limit: recordsAtOnce };
  const names = question.filter?.entries === undefined ? columns : [...columns, ...creditColumns];
  const first = await provider.history(paged);
  const body = new TextStream('text/csv; charset=utf-8', inPieces(lines(first)), sizeInMemory(first));
  return { first, body };

  async function* lines(page: HistoryPage): AsyncGenerator<string> {
    yield csvLine(names);
    const follow = createCourse(question.order);
    for (let present = page; ; ) {
      for (const row of merged(present, question.order)) {
        yield csvLine(names.map((name) => textOf(Reflect.get(row, name))));
      }
      follow(present);
      const { next: position } = present;
      if (position === undefined) return;
      present = await provider.history({ ...paged, position });
      body.heldBytes = sizeInMemory(present);
    }
  }
}

// A block has fewer records than they have, and nobody searches through so many pages in vain.
const mostWithoutProgress = 1_000;

/** Follows whether pages go on along the chain: cursors that lead in a circle would make a file without end. */
function createCourse(order: HistoryQuestion['order']): (page: HistoryPage) => void {
  let newest: bigint | undefined;
  let withoutProgress = 0;
  return ({ records, credits = [] }) => {
    const blocks = [...records, ...credits].map(({ block_number: block }) => BigInt(block));
    const isBehind = (one: bigint, other: bigint) => (order === 'ASC' ? one < other : one > other);
    const last = blocks.reduce<bigint | undefined>(
      (far, block) => (far === undefined || isBehind(far, block) ? block : far),
      undefined,
    );
    if (last !== undefined && newest !== undefined && isBehind(last, newest)) {
      throw new Error(`a page of a history ends at block ${last}, the one before at ${newest}`);
    }
    withoutProgress = last === undefined || last === newest ? withoutProgress + 1 : 0;
    if (withoutProgress > mostWithoutProgress) throw new Error('the pages of a history do not go on');
    newest = last ?? newest;
  };
}

// One record may have thousands of transfers: a page would be some MB in one piece.
const pieceLength = 64 * 1024;

/** The texts as one text, in pieces of 64 kB; the last piece is smaller. */
async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let text = '';
  for await (const part of texts) {
    text += part;
    for (; text.length >= pieceLength; text = text.slice(pieceEnd(text))) yield text.slice(0, pieceEnd(text));
  }
  yield text;
}

/** Not between the halves of a pair of surrogates, which cannot be written apart. */
const pieceEnd = (text: string): number =>
  /[\ud800-\udbff]/.test(text.charAt(pieceLength - 1)) ? pieceLength - 1 : pieceLength;

/** Records and credits in the order of the chain. The credits of a block come after its transactions. */
function merged({ records, credits = [] }: HistoryPage, order: HistoryQuestion['order']): object[] {
  if (credits.length === 0) return [...records];
  const rows = [
    ...records.map((row) => ({ row, block: BigInt(row.block_number), late: 0n })),
    ...credits.map((row) => ({ row, block: BigInt(row.block_number), late: 1n })),
  ];
  const sign = order === 'ASC' ? 1 : -1;
  // The sort is stable, so records and credits stay in their own order.
  return rows.sort((a, b) => sign * Number(a.block - b.block || a.late - b.late)).map(({ row }) => row);
}
