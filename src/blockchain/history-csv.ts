import { TextStream } from '../contract/text-stream.ts';
import type { DataProvider, HistoryPage, HistoryQuestion, HistoryRecord } from '../providers/provider.ts';

const columns = [
  ...(['hash', 'nonce', 'transaction_index', 'from_address', 'to_address', 'value', 'gas'] as const),
  ...(['gas_price', 'receipt_gas_used', 'receipt_status', 'transaction_fee', 'block_timestamp'] as const),
  ...(['block_number', 'block_hash', 'category', 'method_label', 'possible_spam', 'summary'] as const),
  ...(['native_transfers', 'erc20_transfers', 'nft_transfers'] as const),
  ...(['created_contract', 'approvals'] as const),
] satisfies (keyof HistoryRecord)[];

// Of the hosted provider the limit of a page; larger ones would be held in memory for longer.
const recordsAtOnce = 100;
// Spreadsheets run what begins so, and others choose what stands in a summary.
const formula = /^[=+\-@\t\r]/;

function cell(value: HistoryRecord[(typeof columns)[number]]): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`;

/**
 * All records from the question's position on, as CSV, read page by page. The first page is there when it resolves.
 * @throws what the provider throws for the first page
 */
export async function historyCsv(provider: DataProvider, question: HistoryQuestion) {
  const paged = { ...question, limit: recordsAtOnce };
  const first = await provider.history(paged);
  return { first, body: new TextStream('text/csv; charset=utf-8', lines(first)) };

  async function* lines(page: HistoryPage): AsyncGenerator<string> {
    yield line(columns);
    for (let present = page; ; ) {
      yield present.records.map((record) => line(columns.map((name) => cell(record[name])))).join('');
      const { next: position } = present;
      if (position === undefined) return;
      present = await provider.history({ ...paged, position });
    }
  }
}
