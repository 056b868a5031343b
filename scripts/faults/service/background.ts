import type { Database } from '../../../src/contract/transaction.ts';
import { chainId } from '../../bench/mint/bench-chain.ts';
import { createCaller } from '../../load/caller.ts';
import { until } from '../../load/until.ts';
import type { Stage } from './fault.ts';

/** When what goes on without callers works again. */
export type Background = {
  /** From an accepted mint, the first after the fault, until its row says that it is minted; undefined when it never did. */
  readonly mintMs: number | undefined;
  /** From the end of the fault until the index is at the head of the chain, except the newest blocks. */
  readonly indexMs: number | undefined;
};

const patienceMs = 60_000;
/** A block comes each second, and the index polls for it. */
const fewBlocks = 4;

/** Waits until mints and the index go on. */
export async function watchBackground(stage: Stage): Promise<Background> {
  const db = stage.around.openDatabase();
  const isAtHead = async () => {
    const { head_number: head } = await db('index_state').where({ chain_id: chainId }).first('head_number');
    return Number(head) >= (await stage.around.chain.blockNumber()) - fewBlocks;
  };
  try {
    const [mintMs, indexMs] = await Promise.all([
      timeMint(stage, db).catch(() => undefined),
      until(isAtHead, 'blocks to index', patienceMs).catch(() => undefined),
    ]);
    return { mintMs, indexMs };
  } finally {
    await db.destroy();
  }
}

/** Asks for a mint until it is accepted, and waits until it is minted. */
async function timeMint({ service, world, ledger }: Stage, db: Database): Promise<number> {
  const { id: company, key, rwas, wallets } = world.acme;
  const caller = createCaller({ port: service.port, company: 'acme', key, address: '127.0.3.1' });
  let nftId: string | undefined;
  const ask = async () => {
    await caller.ask({
      kind: 'mint afterwards',
      method: 'POST',
      path: `/v1/api/rwa/${rwas[0]}/mint`,
      body: { recipient: wallets[0] },
      onAccepted(text) {
        const body: { nftId: string } = JSON.parse(text);
        nftId = body.nftId;
        ledger.accept({ kind: 'mint', company, id: body.nftId });
      },
    });
    return nftId !== undefined;
  };
  await until(ask, 'mints that are not accepted', patienceMs).finally(() => caller.close());
  const isMinted = async () =>
    (await db('nfts').where({ id: nftId }).first('mint_state'))?.mint_state === 'minted';
  return until(isMinted, 'mints on their way', patienceMs);
}
