import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../../src/contract/transaction.ts';
import { chainId } from '../../bench/mint/bench-chain.ts';
import { createCaller } from '../../load/caller.ts';
import type { Stage } from './fault.ts';
import { deadlineMs } from './usual-load.ts';

/** When what goes on without callers works again. */
export type Background = {
  /** From an accepted mint, the first after the fault, until its row says that it is minted; undefined when it never did. */
  readonly mintMs: number | undefined;
  /** From the end of the fault until the index is at the head of the chain, but for the newest blocks. */
  readonly indexMs: number | undefined;
};

const patienceMs = 60_000;
/** A block comes each second, and the index looks for it. */
const fewBlocks = 4;

/** Waits until mints and the index go on. */
export async function watchBackground(stage: Stage): Promise<Background> {
  const db = stage.around.openDatabase();
  try {
    const [mintMs, indexMs] = await Promise.all([timeMint(stage, db), timeIndex(stage, db)]);
    return { mintMs, indexMs };
  } finally {
    await db.destroy();
  }
}

async function timeMint(stage: Stage, db: Database): Promise<number | undefined> {
  const nftId = await mintOne(stage);
  if (nftId === undefined) return undefined;
  return timeUntil(async () => {
    const nft = await db('nfts').where({ id: nftId }).first('mint_state');
    return nft?.mint_state === 'minted';
  });
}

/** Asks for a mint until it is accepted. @returns the id of the NFT; undefined when it never was */
async function mintOne({ service, around, ledger }: Stage): Promise<string | undefined> {
  const { id: company, key, rwas, wallets } = around.world.acme;
  const caller = createCaller({
    ...{ port: service.port, company: 'acme', key, deadlineMs },
    address: '127.0.3.1',
  });
  let nftId: string | undefined;
  const onAccepted = (text: string) => {
    const body: { nftId: string } = JSON.parse(text);
    nftId = body.nftId;
    ledger.accept({ kind: 'mint', company, id: body.nftId });
  };
  const path = `/v1/api/rwa/${rwas[0]}/mint`;
  await timeUntil(async () => {
    await caller.ask({
      kind: 'mint afterwards',
      method: 'POST',
      path,
      body: { recipient: wallets[0] },
      onAccepted,
    });
    return nftId !== undefined;
  });
  caller.close();
  return nftId;
}

function timeIndex({ around: { chain } }: Stage, db: Database): Promise<number | undefined> {
  return timeUntil(async () => {
    const { head_number: head } = await db('index_state').where({ chain_id: chainId }).first('head_number');
    return Number(head) >= (await chain.blockNumber()) - fewBlocks;
  });
}

/** @returns milliseconds until it is so; undefined when it is not in time */
async function timeUntil(isSo: () => Promise<boolean>): Promise<number | undefined> {
  const begun = performance.now();
  for (;;) {
    if (await isSo()) return Math.round(performance.now() - begun);
    if (performance.now() - begun > patienceMs) return undefined;
    await pause(200);
  }
}
