import { expect } from 'vitest';
import { saveMintNotes } from '../../src/rwa/minting/mint-note-store.ts';
import { addNft, addRwa, serviceVault } from '../rwa/samples.ts';
import { deploy } from '../support/deploy.ts';
import { test } from '../support/mint-fixtures.ts';
import { faults, startWorker, until, untilAll } from '../support/minting.ts';
import type { TestService } from '../support/service.ts';
import { compileContracts } from '../support/solidity.ts';

test('a locked row delays its NFT alone, and costs one signature', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const accept = async (company: 'acme' | 'globex', count: number): Promise<string[]> => {
    const rwa = await addRwa(db, companies[company], { isClaimable: true, contractAddress: chain.contract });
    const mint = service.as(keys[company]).post(`/v1/api/rwa/${rwa.id}/mint`);
    const { body } = await mint.send({}).expect(200);
    return count === 1 ? [body.nftId] : [body.nftId, ...(await accept(company, count - 1))];
  };
  const [locked = '', ...others] = await accept('acme', 3);
  const ofOther = await accept('globex', 2);
  const holder = await db.transaction();
  await holder('nfts').where({ id: locked }).forUpdate();
  let signed = 0;
  const worker = await startWorker(service, chain, (step) => {
    if (step === 'signed') signed += 1;
  });
  const mining = setInterval(() => void chain.mine(), 100);
  try {
    await untilAll(service, [...others, ...ofOther], 'minted');
    const sent = async () => (await db('mint_transactions')).length;
    // Many polls later, too.
    await until('more blocks', async () => Number(await chain.call('eth_blockNumber')) > 30, 20);
    expect(signed).toBeLessThanOrEqual((await sent()) + 1);
    expect((await db('nfts').where({ id: locked }).first()).mint_state).toBe('queued');
    await holder.rollback();
    await untilAll(service, [locked], 'minted');
  } finally {
    clearInterval(mining);
    if (!holder.isCompleted()) await holder.rollback();
    await worker.stop();
  }
});

test('a locked row of an RWA delays the NFTs of this RWA alone', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const accept = async (company: 'acme' | 'globex') => {
    const rwa = await addRwa(db, companies[company], { isClaimable: true, contractAddress: chain.contract });
    const mint = service.as(keys[company]).post(`/v1/api/rwa/${rwa.id}/mint`);
    return { rwaId: rwa.id, nftId: (await mint.send({}).expect(200)).body.nftId };
  };
  const [held, other] = [await accept('acme'), await accept('globex')];
  await chain.call('evm_setAutomine', false);
  const worker = await startWorker(service, chain);
  const holder = await db.transaction();
  let mining: NodeJS.Timeout | undefined;
  try {
    await untilAll(service, [held.nftId, other.nftId], 'submitted');
    const { transaction_id: id } = await db('mint_transaction_nfts').where({ nft_id: held.nftId }).first();
    await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    await holder('rwas').where({ id: held.rwaId }).forUpdate();
    mining = setInterval(() => void chain.mine(), 100);
    await untilAll(service, [other.nftId], 'minted');
    const stateOf = async () => (await db('mint_transactions').where({ id }).first()).state;
    await until('finality', async () => (await stateOf()) === 'finalized');
    await holder.rollback();
    await untilAll(service, [held.nftId], 'minted');
  } finally {
    clearInterval(mining);
    if (!holder.isCompleted()) await holder.rollback();
    await worker.stop();
    await chain.call('evm_setAutomine', true);
  }
});

test('a locked row keeps no other NFT of its transaction from being minted and final', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: chain.contract });
  const accept = async (): Promise<string> =>
    (await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200)).body.nftId;
  const [locked, ...others] = [await accept(), await accept(), await accept()];
  await chain.call('evm_setAutomine', false);
  const worker = await startWorker(service, chain);
  const holder = await db.transaction();
  let mining: NodeJS.Timeout | undefined;
  const openLinks = async () =>
    (await db('mint_transaction_nfts').where({ nft_id: locked, state: 'open' }).first())?.transaction_id;
  try {
    await untilAll(service, [locked, ...others], 'submitted');
    const sent = await openLinks();
    await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    await holder('nfts').where({ id: locked }).forUpdate();
    mining = setInterval(() => void chain.mine(), 100);
    await untilAll(service, others, 'minted');
    await until('finality', async () => {
      const { state } = await db('mint_transactions').where({ id: sent }).first();
      return state === 'finalized';
    });
    expect((await db('nfts').where({ id: locked }).first()).mint_state).toBe('submitted');
    // The lane goes on with others.
    await untilAll(service, [await accept()], 'minted');
    await holder.rollback();
    await untilAll(service, [locked], 'minted');
    expect(await openLinks()).toBeUndefined();
  } finally {
    clearInterval(mining);
    if (!holder.isCompleted()) await holder.rollback();
    await worker.stop();
    await chain.call('evm_setAutomine', true);
  }
});

/** Holds the row of an NFT locked, as a session that somebody forgot. @returns what ends it */
async function holdRow({ db }: TestService, id: string): Promise<() => Promise<void>> {
  const holder = await db.transaction();
  await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
  await holder('nfts').where({ id }).forUpdate();
  return async () => {
    if (!holder.isCompleted()) await holder.rollback();
  };
}

test('a locked row keeps no other NFT of its transaction from following a reorganisation', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: chain.contract });
  const accept = async (): Promise<string> =>
    (await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send({}).expect(200)).body.nftId;
  const [locked, ...others] = [await accept(), await accept(), await accept()];
  await chain.call('evm_setAutomine', false);
  const worker = await startWorker(service, chain);
  let release = async () => {};
  let mining: NodeJS.Timeout | undefined;
  try {
    await untilAll(service, [locked, ...others], 'submitted');
    await chain.mine(2);
    await untilAll(service, [locked, ...others], 'minted');
    const link = await db('mint_transaction_nfts').where({ nft_id: locked, state: 'open' }).first();
    release = await holdRow(service, locked);
    await chain.call('anvil_reorg', 2, []);
    await untilAll(service, others, 'submitted');
    mining = setInterval(() => void chain.mine(), 100);
    await untilAll(service, others, 'minted');
    const stateOf = async () =>
      (await db('mint_transactions').where({ id: link.transaction_id }).first()).state;
    await until('finality', async () => (await stateOf()) === 'finalized');
    await release();
    // Its row follows, too.
    await until('the truth', async () => (await faults(service, chain, [locked, ...others])).length === 0);
  } finally {
    clearInterval(mining);
    await release();
    await worker.stop();
    await chain.call('evm_setAutomine', true);
  }
});

test('locked rows in several transactions delay the others by one wait', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const accept = async (company: 'acme' | 'globex') => {
    const rwa = await addRwa(db, companies[company], { isClaimable: true, contractAddress: chain.contract });
    const mint = service.as(keys[company]).post(`/v1/api/rwa/${rwa.id}/mint`);
    const { nftId } = (await mint.send({}).expect(200)).body;
    await untilAll(service, [nftId], 'submitted');
    return nftId;
  };
  await chain.call('evm_setAutomine', false);
  const worker = await startWorker(service, chain);
  const waits = new Set<string>();
  const sampling = setInterval(async () => {
    const waiting = db('pg_stat_activity').where({ wait_event_type: 'Lock' });
    for (const { pid, xact_start: begun } of await waiting.whereRaw('datname = current_database()'))
      waits.add(`${pid} ${begun.getTime()}`);
  }, 100);
  const releases: (() => Promise<void>)[] = [];
  try {
    const locked = [await accept('acme'), await accept('acme'), await accept('acme')];
    const other = await accept('globex');
    expect(await db('mint_transactions').where({ state: 'submitted' })).toHaveLength(4);
    for (const id of locked) releases.push(await holdRow(service, id));
    await chain.mine(2);
    await untilAll(service, [other], 'minted');
    expect(waits.size).toBe(1);
    for (const release of releases) await release();
    const mining = setInterval(() => void chain.mine(), 100);
    await untilAll(service, locked, 'minted').finally(() => clearInterval(mining));
  } finally {
    clearInterval(sampling);
    for (const release of releases) await release();
    await worker.stop();
    await chain.call('evm_setAutomine', true);
  }
});

test('a locked row keeps no other NFT waiting while the contract rejects its recipient', async ({
  mintChain: chain,
  mintService: service,
}) => {
  const { db, companies, keys } = service;
  const own = await chain.call('eth_getCode', chain.contract, 'latest');
  const picky = await deploy(chain.rpcUrl, (await compileContracts())['Picky']);
  await chain.call('anvil_setCode', chain.contract, await chain.call('eth_getCode', picky, 'latest'));
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: chain.contract });
  const accept = async (body: object): Promise<string> =>
    (await service.as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send(body).expect(200)).body.nftId;
  const rejected = await accept({ recipient: '0x00000000000000000000000000000000DeaDBeef' });
  const others = [await accept({}), await accept({})];
  const release = await holdRow(service, rejected);
  const worker = await startWorker(service, chain);
  const mining = setInterval(() => void chain.mine(), 100);
  try {
    await untilAll(service, others, 'minted');
    await release();
    await untilAll(service, [rejected], 'failed');
  } finally {
    clearInterval(mining);
    await release();
    await worker.stop();
    await chain.call('anvil_setCode', chain.contract, own);
  }
});

test('a locked row keeps no other NFT from having its reason', async ({ mintService: service }) => {
  const { db, companies } = service;
  const rwa = await addRwa(db, companies.acme);
  const [locked, free] = [await addNft(db, serviceVault, rwa), await addNft(db, serviceVault, rwa)];
  const release = await holdRow(service, locked.id);
  try {
    const notes = [locked, free].map(({ id }) => ({ nftId: id, reason: 'left_out', detail: 'why' }) as const);
    await db.transaction((tx) => saveMintNotes(tx, notes));
    expect(await db('mint_notes').pluck('nft_id')).toEqual([free.id]);
  } finally {
    await release();
  }
});
