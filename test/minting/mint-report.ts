import type { TestDatabase } from '../support/database.ts';
import type { MintChain } from '../support/minting.ts';
import type { WatchedNode } from '../support/node/watched-node.ts';
import type { RunningProcess } from '../support/process.ts';

type Watched = {
  readonly db: TestDatabase['db'];
  readonly chain: MintChain;
  readonly nodes: readonly WatchedNode[];
  /** Every worker that was started, whether it runs or not. */
  readonly workers: readonly RunningProcess[];
};

const lastWords = 8_000;

/** Everything that a person needs to understand what went wrong with these NFTs: rows, chain and workers. */
export async function describeMints(
  { db, chain, nodes, workers }: Watched,
  ids: readonly string[],
): Promise<Record<string, unknown>> {
  const nfts = await db('nfts')
    .select('id', 'serial', 'token_id', 'mint_state', 'recipient', 'queued_at', 'mint_error')
    .select('minted_at', 'minted_tx', 'minted_block')
    .whereIn('id', [...ids]);
  const links = await db('mint_transaction_nfts').whereIn('nft_id', [...ids]);
  const transactions = await db('mint_transactions')
    .whereIn(
      'id',
      links.map((link) => link.transaction_id),
    )
    .orWhereIn('state', ['submitted', 'confirmed'])
    .orderBy('nonce');
  const attempts = await db('mint_attempts')
    .select(
      'transaction_id',
      'number',
      'hash',
      'max_fee_per_gas',
      'max_priority_fee_per_gas',
      'sent_at_block',
    )
    .whereIn(
      'transaction_id',
      transactions.map(({ id }) => id),
    );
  const tokens = new Set(nfts.map((row) => row.token_id));
  return {
    nfts,
    lanes: await db('mint_lanes'),
    notes: await db('mint_notes').whereIn('nft_id', [...ids]),
    questions: nodes.map(({ questions }) => ({
      mostPerBlock: questions.mostPerBlock(),
      ofThatBlock: Object.fromEntries(questions.busiest()),
    })),
    transactions,
    attempts: await Promise.all(
      attempts.map(async (row) => ({ ...row, ...(await onChain(chain, row.hash)) })),
    ),
    links,
    jobs: await db('pgboss.job')
      .select('name', 'singleton_key', 'state')
      .whereIn('singleton_key', [...ids]),
    head: await chain.call('eth_getBlockByNumber', 'latest', false),
    finalized: await chain.call('eth_getBlockByNumber', 'finalized', false),
    counts: await countsOf(chain, transactions),
    mints: [...(await chain.mints())].filter(([token]) => tokens.has(token)),
    workers: workers.map((worker) => ({ pid: worker.child.pid, wrote: worker.output().slice(-lastWords) })),
  };
}

async function onChain(chain: MintChain, hash: string) {
  const receipt = await chain.call<Record<string, unknown> | null>('eth_getTransactionReceipt', hash);
  const known = await chain.call('eth_getTransactionByHash', hash);
  return {
    isKnown: known !== null,
    receipt: receipt && {
      status: receipt['status'],
      block: receipt['blockNumber'],
      blockHash: receipt['blockHash'],
      to: receipt['to'],
      logs: Array.isArray(receipt['logs']) ? receipt['logs'].length : 0,
    },
  };
}

async function countsOf(chain: MintChain, transactions: readonly { signer: string }[]) {
  const signers = [...new Set(transactions.map(({ signer }) => signer))];
  return Promise.all(
    signers.map(async (signer) => ({
      signer,
      latest: await chain.call('eth_getTransactionCount', signer, 'latest'),
      pending: await chain.call('eth_getTransactionCount', signer, 'pending'),
      finalized: await chain.call('eth_getTransactionCount', signer, 'finalized'),
    })),
  );
}
