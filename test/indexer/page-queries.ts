import { approvalQuery } from '../../src/providers/indexer/read/approval-page-store.ts';
import { blockAtQuery, historyQuery } from '../../src/providers/indexer/read/history-page-store.ts';
import { holdingQuery, pastQuery } from '../../src/providers/indexer/read/holding-queries.ts';
import { sumsQuery } from '../../src/providers/indexer/read/reconciliation-store.ts';
import { tokenQuery } from '../../src/providers/indexer/read/token-page-store.ts';

export const wallet = `0x${'ab'.repeat(20)}`;
export const question = { chainId: '1', wallet, order: 'DESC', limit: 101 } as const;
export const holdingPlace = { acquired: { blockNumber: 5n, logIndex: 2 }, contract: wallet, tokenId: 7n };

const first = { ...question, after: undefined };
const further = { ...question, after: { blockNumber: 5n, index: 1 } };
const holdings = { ...first, asOf: undefined };

/** What reads a page about one wallet, which has to find all of it in one part of each table. */
export const pageQueries = [
  ['of a history', historyQuery(first)],
  ['of a history, further down', historyQuery(further)],
  ['of kinds', historyQuery({ ...first, search: { category: ['borrow', 'mint'], direction: 'send' } })],
  ['of a token', historyQuery({ ...first, search: { token: [wallet], fromBlock: 3n } })],
  [
    'of a token and somebody',
    historyQuery({
      ...further,
      search: { token: [wallet], counterparty: wallet, category: ['burn'], includeSpam: false, toBlock: 8n },
    }),
  ],
  [
    'with credits',
    historyQuery({
      ...further,
      search: { entries: ['transactions', 'withdrawals', 'rewards'], fromBlock: 2n },
    }),
  ],
  ['to find dates', blockAtQuery('1', wallet, new Date(0))],
  ['of NFTs', holdingQuery(holdings)],
  ['of NFTs of contracts', holdingQuery({ ...holdings, contracts: [wallet] })],
  ['of NFTs of contracts as of a block', holdingQuery({ ...holdings, asOf: 8n, contracts: [wallet] })],
  ['of NFTs, further down', holdingQuery({ ...question, asOf: 8n, after: holdingPlace })],
  ['of NFTs as of long ago', pastQuery({ ...question, asOf: 8n, after: holdingPlace }, 100)],
  ['of NFTs of contracts as of long ago', pastQuery({ ...first, asOf: 8n, contracts: [wallet] }, 100)],
  ['of tokens', tokenQuery({ chainId: '1', wallet, limit: 101, after: undefined })],
  ['of approvals', approvalQuery({ chainId: '1', wallet, limit: 101, after: undefined })],
  ['of sums', sumsQuery('1', wallet, 5n)],
] as const;
