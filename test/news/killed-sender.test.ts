import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Contract, JsonRpcProvider, ZeroAddress } from 'ethers';
import { expect } from 'vitest';
import artefact from '../../src/chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };
import { settingsFor } from '../cli/command-line.ts';
import { addRwa } from '../rwa/samples.ts';
import { test as base, perFile } from '../support/fixtures.ts';
import { keystoreSettings } from '../support/keystore-settings.ts';
import { type MintChain, quick, startMintChain, startMintService, until } from '../support/minting.ts';
import { freePort } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/process.ts';
import { endpointPath } from './news-world.ts';

const types = ['nft.minted', 'nft.transferred', 'nft.reverted'];
const webhookHosts = { WEBHOOK_HOSTS: '127.0.0.1' };
const somebody = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** A chain whose account 3 owns what is minted, a service that accepts mints, and workers as processes. */
const test = base.extend('world', perFile, async ({ serviceOptions: _options }, { onCleanup }) => {
  const opened = new AsyncDisposableStack();
  onCleanup(() => opened.disposeAsync());
  const chain = opened.adopt(await startMintChain(), (each) => each.close());
  const service = opened.adopt(await startMintService(chain, webhookHosts), (each) => each.close());
  const { db, companies, keys } = service;
  await db('networks').update({ confirmations: 1 });
  const { id: rwaId } = await addRwa(db, companies.acme, {
    isClaimable: true,
    contractAddress: chain.contract,
  });
  const signing = await keystoreSettings(chain.chainId, chain.keys[0] ?? '');
  const acme = service.as(keys.acme);
  const cwd = await mkdtemp(path.join(tmpdir(), 'tallystick-receiver-'));
  opened.defer(() => rm(cwd, { recursive: true }));
  return {
    chain,
    db,
    nfts: opened.adopt(await startOwner(chain), (each) => each.close()),
    mint: async (count: number) => {
      for (let minted = 0; minted < count; minted += 1)
        await acme.post(`/v1/api/rwa/${rwaId}/mint`).send({}).expect(200);
    },
    async startReceiver() {
      const port = await freePort();
      const { body } = await acme
        .post(endpointPath)
        .send({ url: `http://127.0.0.1:${port}/`, types })
        .expect(201);
      const program = path.resolve('openapi/portal/programs/receive.ts');
      const receiver = startProcess([program], { PORT: String(port), WEBHOOK_SECRET: body.secret }, { cwd });
      opened.defer(() => end(receiver));
      return receiver;
    },
    async startWorker() {
      // The lease of a dead process ends by the clock, as the tests of leases show; nobody needs to wait for it here.
      await db('leases').update({ expires_at: db.raw('clock_timestamp()') });
      const worker = startProcess(['test/support/service-process.ts', JSON.stringify(quick)], {
        ...settingsFor(service.databaseUrl),
        ...webhookHosts,
        ...signing,
        ROLES: 'worker',
        SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
        OWNERSHIP_POLL_SECONDS: '1',
        RPC_FINALITY_NODES: '1',
      });
      opened.defer(() => end(worker));
      return worker;
    },
  };
});

async function end({ child, ended }: RunningProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** The account that owns what is minted. */
async function startOwner(chain: MintChain) {
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1, polling: true });
  const owner = await provider.getSigner(3);
  const nft = new Contract(chain.contract, artefact.abi, owner);
  return {
    async transfer(tokenId: string) {
      await nft.getFunction('transferFrom')(owner.address, somebody, tokenId);
    },
    /** How many mints and how many transfers the chain has of each token, as `mints transfers`. */
    async counts(): Promise<Map<string, string>> {
      const logs = await nft.queryFilter(nft.filters['Transfer']?.() ?? 'Transfer');
      const events = logs.map((log) => nft.interface.parseLog(log)?.args ?? []);
      const byToken = Map.groupBy(events, ([, , tokenId]) => String(tokenId));
      const count = (own: typeof events) => own.filter(([from]) => from === ZeroAddress).length;
      return new Map(
        [...byToken].map(([tokenId, own]) => [tokenId, `${count(own)} ${own.length - count(own)}`]),
      );
    },
    close: () => provider.destroy(),
  };
}

type NewsRow = {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: { readonly corrects?: string };
};

test('the receiver of the guide has every mint and transfer, after three deaths of the sender and a reorganisation', {
  timeout: 180_000,
}, async ({ world }) => {
  const { chain, db, nfts, mint, startReceiver, startWorker } = world;
  const news = (): Promise<NewsRow[]> => db('news').whereIn('type', types).orderBy('seq');
  const written = (type: string, count: number) =>
    until(`${count} ${type}`, async () => (await news()).filter((row) => row.type === type).length >= count);
  const tokens = () => db('nfts').where({ mint_state: 'minted' }).orderBy('serial').pluck('token_id');

  const receiver = await startReceiver();
  const lines = () =>
    receiver
      .output()
      .split('\n')
      .filter((line) => line !== '');
  const killAtFirst = async (worker: RunningProcess, type: string) => {
    await receiver.until(new RegExp(`^${type}`, 'm'));
    worker.child.kill('SIGKILL');
    expect(await worker.ended).toBe('SIGKILL');
  };

  const first = await startWorker();
  await mint(6);
  await killAtFirst(first, 'nft.minted');
  await mint(6);

  const second = await startWorker();
  await written('nft.minted', 12);
  const [last = '', ...moved] = await tokens();
  for (const token of moved.slice(5)) await nfts.transfer(token);
  await killAtFirst(second, 'nft.transferred');
  for (const token of moved.slice(0, 5)) await nfts.transfer(token);

  const third = await startWorker();
  await written('nft.transferred', 11);
  await mint(1);
  await written('nft.minted', 13);
  await nfts.transfer(last);
  await written('nft.transferred', 12);
  // One has the newest mint, the other the newest transfer.
  await chain.call('anvil_reorg', 2, []);
  await killAtFirst(third, 'nft.reverted');

  await startWorker();
  await written('nft.reverted', 2);
  await written('nft.minted', 14);
  await nfts.transfer(last);
  await written('nft.transferred', 13);
  const all = await news();
  await expect.poll(() => lines().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(all.length);

  // Everything once, and what is about an NFT in its order.
  const lineOf = ({ type, subject }: NewsRow) => `${type} /v1/api/nft/${subject}`;
  expect(lines().toSorted()).toEqual(all.map(lineOf).toSorted());
  for (const [subject, own] of Map.groupBy(all, (row) => row.subject))
    expect(lines().filter((line) => line.endsWith(subject))).toEqual(own.map(lineOf));

  // What was corrected is of both kinds, and the correction comes later.
  const corrected = new Set(all.flatMap(({ data }) => data.corrects ?? []));
  expect(all.filter(({ id }) => corrected.has(id)).map(({ type }) => type)).toEqual([
    'nft.minted',
    'nft.transferred',
  ]);
  for (const id of corrected) {
    const at = all.findIndex((row) => row.id === id);
    expect(all.findIndex(({ data }) => data.corrects === id)).toBeGreaterThan(at);
  }

  // What still holds is what the chain has.
  const holding = all.filter(({ id, type }) => type !== 'nft.reverted' && !corrected.has(id));
  const told = await Promise.all(
    [...Map.groupBy(holding, (row) => row.subject)].map(async ([id, own]) => {
      const minted = own.filter(({ type }) => type === 'nft.minted').length;
      const { token_id: tokenId } = await db('nfts').where({ id }).first('token_id');
      return [tokenId, `${minted} ${own.length - minted}`] as const;
    }),
  );
  expect(new Map(told)).toEqual(await nfts.counts());
  expect(told).toHaveLength(13);
});
