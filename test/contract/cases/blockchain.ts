import { Unprovoked } from '../session.ts';
import { foreignCursor } from './any-operation.ts';
import type { Provocations, Trial } from './case.ts';

const wallet = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

/** The operation's path, which has no parameters, with another query than that of its row. */
const asking = ({ session, id, operation }: Trial, query: string) => {
  // One operation asks about all networks.
  const own = id === 'listWalletChains' ? query.replace(/&?chainId=\d+/, '') : query;
  return session.call(id, { path: `${operation.template}?${own}` });
};

const ofWallet = async ({ facts }: Trial) =>
  `address=${await facts.wallet()}&chainId=${await facts.chainId()}`;

const plain = async (trial: Trial) => asking(trial, await ofWallet(trial));

const maxPages = 20;

export const blockchainCases: Provocations = {
  address_required: async (trial) => asking(trial, `address=&chainId=${await trial.facts.chainId()}`),
  network_id_required: (trial) => asking(trial, `address=${wallet}`),
  network_not_found: (trial) => asking(trial, `address=${wallet}&chainId=424242`),
  address_malformed: async (trial) => asking(trial, `address=0x123&chainId=${await trial.facts.chainId()}`),
  address_checksum_wrong: async (trial) =>
    asking(
      trial,
      `address=0xF39fd6e51aad88f6f4ce6ab8827279cfffb92266&chainId=${await trial.facts.chainId()}`,
    ),
  page_limit_too_high: async (trial) => asking(trial, `${await ofWallet(trial)}&limit=101`),
  cursor_invalid: async (trial) => asking(trial, `${await ofWallet(trial)}&${foreignCursor}`),

  filter_unsupported: async (trial) => {
    const filter = trial.id === 'listWalletNfts' ? 'toBlock=1' : 'category=mint';
    const answer = await asking(trial, `${await ofWallet(trial)}&${filter}`);
    if (answer.status === 200) throw new Unprovoked('the data provider of this network takes every filter');
    return answer;
  },

  wallet_history: plain,
  forged: plain,
  wallet_history_credits: async (trial) => {
    const answer = await asking(trial, `${await ofWallet(trial)}&entries=transactions,withdrawals,rewards`);
    if (answer.status === 400)
      throw new Unprovoked('the data provider of this network has transactions only');
    return answer;
  },
  wallet_nfts: plain,
  wallet_nfts_more: async (trial) => asking(trial, `${await ofWallet(trial)}&limit=1`),
  wallet_history_end: async (trial) => {
    let query = await ofWallet(trial);
    for (let page = 0; page < maxPages; page += 1) {
      const answer = await asking(trial, query);
      const cursor: string | undefined = JSON.parse(answer.text).history?.cursor;
      if (answer.status !== 200 || !cursor) return answer;
      query = `${await ofWallet(trial)}&cursor=${encodeURIComponent(cursor)}`;
    }
    throw new Unprovoked(`the history goes on after ${maxPages} pages: needs another --wallet`);
  },
  operation_unsupported: async (trial) => {
    const answer = await plain(trial);
    if (answer.status === 200) throw new Unprovoked('the data provider of this network tells it');
    return answer;
  },
  block_not_indexed: async (trial) => {
    const isAsOf = trial.id === 'getWalletReconciliation';
    const answer = await asking(
      trial,
      `${await ofWallet(trial)}&${isAsOf ? 'asOf=999999999999' : 'toBlock=0'}`,
    );
    if (answer.status === 200) throw new Unprovoked('the index of this network begins with block 0');
    return answer;
  },
  wallet_tokens: plain,
  wallet_approvals: plain,
  wallet_chains: plain,
  networks: ({ session, id }) => session.call(id),
  reconciliation_equal: plain,
  reconciliation_explained: plain,
  balance_native: plain,
  balance_erc20: async (trial) =>
    asking(trial, `${await ofWallet(trial)}&contractAddress=${await trial.facts.token()}`),
  not_erc20: async (trial) =>
    asking(trial, `${await ofWallet(trial)}&contractAddress=0x8ba1f109551bd432803012645ac136ddd64dba72`),
};
