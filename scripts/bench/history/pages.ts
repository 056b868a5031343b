import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { createCursors } from '../../../src/blockchain/cursor.ts';
import { basePaths } from '../../../src/contract/documents.ts';
import type { Database } from '../../../src/contract/transaction.ts';
import { issueKey } from '../../../src/keys/key-store.ts';
import { benchKey, startUnpinned } from '../start-service.ts';
import { busyWallet, chainId, placeOf, rareToken } from './fill.ts';

export const pageSize = 100;

/** Asks for a page of the busy wallet, counted from 1, newest first, and sees that it is that page. */
export type Ask = (page: number) => Promise<void>;

/** Searches, each of which one in a thousand rows of the busy wallet fits. */
export const searches: readonly Readonly<Record<string, string>>[] = [
  { token: rareToken },
  { token: rareToken, category: 'token send', direction: 'send', includeSpam: 'false' },
  { token: rareToken, fromDate: '2023-11-14T22:13:20.000Z', category: 'mint,token send' },
];
const rarity = 1_000;
const walletShare = 5;

/** Asks for the matches from a place on, at which a page of the whole history begins, and sees that they are all. */
export type AskSearch = (page: number, search: (typeof searches)[number]) => Promise<void>;

type Filled = { readonly db: Database; readonly rows: number };

/** Where the page before ended; the same that a walk through all pages would come with. */
function positionOf(page: number, rows: number): string | undefined {
  if (page === 1) return undefined;
  const { blockNumber, index } = placeOf((page - 1) * pageSize, rows);
  return `${blockNumber}.${index}`;
}

type Records = readonly { readonly block_number: string; readonly transaction_index: string }[];

function assertPage(page: number, rows: number, records: Records): void {
  const { blockNumber, index } = placeOf((page - 1) * pageSize + 1, rows);
  const [first] = records;
  const isRight = first?.block_number === String(blockNumber) && first.transaction_index === String(index);
  if (records.length !== pageSize || !isRight) throw new Error(`what came is not page ${page}`);
}

type HttpOptions = Filled & { readonly databaseUrl: string };

/** The service as a process of its own, asked over one connection that is kept. */
export async function askOverHttp({ db, rows, databaseUrl }: HttpOptions) {
  const { key } = await issueKey(db, 'live', { companyId: null, label: 'bench' });
  const service = await startUnpinned({ DATABASE_URL: databaseUrl, RATE_LIMIT_PER_SECOND: '0' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const cursors = createCursors(new Map([['bench', benchKey]]));
  const scope = {
    operation: 'getWalletHistory',
    dataProvider: 'indexer',
    chainId,
    address: busyWallet,
  } as const;
  const pathOf = (page: number, search: Readonly<Record<string, string>>) => {
    const position = positionOf(page, rows);
    const start = { order: 'DESC', limit: pageSize, search, page: page - 1 } as const;
    const cursor = position && cursors.seal(scope, { ...start, position });
    const query = {
      address: busyWallet,
      chainId,
      order: 'DESC',
      limit: String(pageSize),
      ...search,
      ...(cursor && { cursor }),
    };
    return `${basePaths.blockchain}/wallet/history?${new URLSearchParams(query)}`;
  };
  const recordsOf = async (page: number, search: Readonly<Record<string, string>>): Promise<Records> => {
    const answer = await read(`http://127.0.0.1:${service.port}${pathOf(page, search)}`, agent, key);
    return JSON.parse(answer).history.result;
  };
  const ask: Ask = async (page) => assertPage(page, rows, await recordsOf(page, {}));
  const askSearch: AskSearch = async (page, search) => {
    const found = await recordsOf(page, search);
    const left = Math.floor((rows / walletShare - (page - 1) * pageSize) / rarity);
    const expected = Math.min(pageSize, left);
    if (found.length !== expected) throw new Error(`${found.length} records came, not ${expected}`);
  };
  return {
    ask,
    askSearch,
    async close() {
      agent.destroy();
      await service.stop();
    },
  };
}

function read(url: string, agent: Agent, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { 'x-api-key': key }, timeout: 30_000 }, (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(body);
        else reject(new Error(`answered ${response.statusCode}: ${body}`));
      }, reject);
    });
    request.once('error', reject);
    request.once('timeout', () => request.destroy(new Error('no answer within 30 s')));
  });
}
