import { ProblemError, problem } from '../base/errors.ts';
import { parseAddress } from '../chain/address.ts';
import type { Network } from '../chain/rpc/client/network.ts';
import type { components, operations } from '../contract/generated/blockchain.ts';
import type { CallerContext, Handlers } from '../contract/operation.ts';
import type { DataProviders } from '../providers/data-providers.ts';
import type { DataProvider, Seen } from '../providers/shared/provider.ts';
import { coverageHeaders, coverageOf } from './coverage.ts';
import { listReply, readPageQuestion } from './page-question.ts';
import type { WalletDeps } from './wallet-handlers.ts';
import { readWalletQuestion } from './wallet-question.ts';

type StateHandlers = Pick<
  Handlers<operations, CallerContext>,
  'listWalletTokens' | 'listWalletApprovals' | 'getWalletReconciliation' | 'listWalletChains'
>;

/** The handlers of what a wallet has now, and where. */
export function createStateHandlers(deps: WalletDeps): StateHandlers {
  const { networks, providers } = deps;
  return {
    async listWalletTokens({ query }) {
      const asked = await readPageQuestion(deps, 'listWalletTokens', query);
      const { question } = asked;
      const page = await providers[question.network.dataProvider].tokens(question);
      return listReply(asked, page, [...page.entries]);
    },

    async listWalletApprovals({ query }) {
      const asked = await readPageQuestion(deps, 'listWalletApprovals', query);
      const { question } = asked;
      const page = await ledgerOf(providers, question.network, 'approvals').approvals(question);
      return listReply(asked, page, [...page.entries]);
    },

    async getWalletReconciliation({ query: { asOf, ...query } }) {
      const question = await readWalletQuestion(networks, query);
      const ledger = ledgerOf(providers, question.network, 'reconciliations');
      const found = await ledger.reconciliation(question, asOf === undefined ? undefined : BigInt(asOf));
      const body = { ...found.body, ...coverageOf(found) };
      return { status: 200, headers: coverageHeaders(found), body };
    },

    async listWalletChains({ query }) {
      const { lower: address } = parseAddress(query.address, { in: 'query', name: 'address' });
      const found = await seenIn(providers, await networks.list(), address);
      const result = found.seen.map(({ network, seen }) => chainToApi(network, seen));
      return { status: 200, body: { address, result, unavailable: found.unavailable } };
    },
  };
}

/** @throws problem `operation_unsupported` where the network's provider keeps no ledger */
function ledgerOf(
  providers: DataProviders,
  { dataProvider }: Network,
  subject: string,
): NonNullable<DataProvider['ledger']> {
  const { ledger } = providers[dataProvider];
  if (ledger !== undefined) return ledger;
  const words = { provider: dataProvider, subject };
  const { message } = problem('operation_unsupported', words);
  throw problem('operation_unsupported', words, { errors: [{ in: 'query', name: 'chainId', message }] });
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ProblemError) || error.code !== 'history_unavailable') throw error;
}

/** Asks each provider once, for all of its networks. One that gives no answer keeps the others from nothing. */
async function seenIn(providers: DataProviders, networks: readonly Network[], address: string) {
  const names = [...new Set(networks.map(({ dataProvider }) => dataProvider))];
  const answers = await Promise.all(
    names.map(async (name) => {
      const own = networks.filter(({ dataProvider }) => dataProvider === name);
      const seen = await providers[name].seen(own, address).catch(unlessUnavailable);
      return { own, seen };
    }),
  );
  const known = answers.flatMap(({ own, seen }) =>
    own.flatMap((network) => {
      const found = seen?.get(network.chainId);
      return found === undefined ? [] : [{ network, seen: found }];
    }),
  );
  const unavailable = answers.flatMap(({ own, seen }) => (seen === undefined ? own : []));
  return {
    seen: known.sort((a, b) => Number(a.network.chainId) - Number(b.network.chainId)),
    unavailable: unavailable.map(({ chainId }) => Number(chainId)).sort((a, b) => a - b),
  };
}

/** Converts where a wallet was seen to the contract's form. */
function chainToApi({ chainId, name }: Network, { first, last }: Seen): components['schemas']['WalletChain'] {
  return {
    chainId: Number(chainId),
    name,
    first_block: first.blockNumber.toString(),
    first_block_timestamp: first.blockTime.toISOString(),
    last_block: last.blockNumber.toString(),
    last_block_timestamp: last.blockTime.toISOString(),
  };
}
