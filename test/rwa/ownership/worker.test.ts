import { expect, onTestFinished } from 'vitest';
import type { OnUnread } from '../../../src/rwa/ownership/follow.ts';
import { createOwnershipLedger } from '../../../src/rwa/ownership/ledger.ts';
import { until } from '../../support/minting.ts';
import { failure, of } from '../../support/node/flaw.ts';
import { startNode } from '../../support/node/node.ts';
import type { TestService } from '../../support/service.ts';
import { addNetwork } from '../samples.ts';
import { issue, issueOne, mint, test, wallets } from './ownership-setup.ts';

const [alice, bob] = wallets;

const begin = ({ parts }: TestService, onUnread: OnUnread = parts.observers.owners) => {
  const ledger = createOwnershipLedger({ ...parts, pollMs: 50, onUnread });
  ledger.start();
  return ledger;
};

/** Waits until a statement waits for a lock. */
const untilBlocked = ({ db }: TestService) =>
  until('a statement that waits', async () => {
    const { rows } = await db.raw(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  });

const untilOwner = ({ db }: TestService, id: string, owner: string) =>
  until(`${owner} owns it`, async () => (await db('nfts').where({ id }).first('owner')).owner === owner);

test('of two workers one follows a network, whatever its history provider is, and the other takes over', async ({
  service,
  tokens,
}) => {
  const { nft } = await issueOne(service, tokens.contract);
  await service.db('networks').update({ data_provider: 'moralis' });
  const twin = await service.twin();
  const ledgers = [begin(service), begin(twin)];
  await mint(service, tokens, [nft], alice);
  await untilOwner(service, nft.id, alice);
  const leases = await service.db('leases').where({ name: 'ownership 31337' });
  expect(leases).toHaveLength(1);
  await ledgers[0]?.stop();
  await tokens.send('moveBatch', [bob], [nft.tokenId]);
  await untilOwner(service, nft.id, bob);
  await ledgers[1]?.stop();
  expect(await service.db('index_state').select()).toEqual([]);
  expect(await service.db('nft_transfers').where({ token_id: nft.tokenId })).toHaveLength(2);
});

test('a contract that cannot be read delays no other, and is counted by its address', async ({
  service,
  acme,
  tokens,
}) => {
  const unread = await tokens.deployToken();
  await issue(service, unread, 1);
  const { rwa, nft } = await issueOne(service, tokens.contract);
  const aboutUnread = of('eth_getLogs', ({ params: [filter] }) =>
    JSON.stringify(filter).toLowerCase().includes(unread.toLowerCase())
      ? failure(-32_000, 'no logs of this contract')
      : undefined,
  );
  const node = await startNode(tokens.rpcUrl, aboutUnread);
  onTestFinished(() => node.close());
  await service.db('networks').update({ rpc_urls: [node.url] });
  const twin = await service.twin();
  const ledger = begin(twin);
  onTestFinished(() => ledger.stop());
  await mint(service, tokens, [nft], alice);
  await untilOwner(service, nft.id, alice);
  const { body } = await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(202);
  await tokens.send('moveBatch', [bob], [nft.tokenId]);
  await tokens.mine(5);
  await untilOwner(service, nft.id, bob);
  await until(
    'the snapshot is taken',
    async () => (await acme.get(`/v1/api/snapshot/${body.id}`)).body.state === 'taken',
  );
  const { text } = await twin.parts.metrics.scrape();
  const counted = [...text.matchAll(/^tallystick_ownership_unread_total\{(.*)\} [1-9]/gm)];
  expect(counted.map(([, labels]) => labels)).toEqual([`chain_id="31337",contract="${unread}"`]);
});

test('owners are read while a snapshot takes long', async ({ service, acme, tokens }) => {
  await service.db('networks').update({ rpc_urls: [tokens.rpcUrl] });
  const { rwa, nft } = await issueOne(service, tokens.contract);
  await mint(service, tokens, [nft], alice);
  const ledger = begin(await service.twin());
  onTestFinished(() => ledger.stop());
  await untilOwner(service, nft.id, alice);
  const { id } = (await acme.post(`/v1/api/rwa/${rwa.id}/snapshot`).send({}).expect(202)).body;
  const isTaken = async () => (await acme.get(`/v1/api/snapshot/${id}`)).body.state === 'taken';
  await service.db.transaction(async (tx) => {
    // Whoever takes the snapshot waits for this row.
    await tx('ownership_snapshots').where({ id }).forUpdate().first();
    await tokens.mine(5);
    await untilBlocked(service);
    await tokens.send('moveBatch', [bob], [nft.tokenId]);
    await untilOwner(service, nft.id, bob);
    expect(await isTaken()).toBe(false);
  });
  await until('the snapshot', isTaken);
});

test('what the first node does not give is asked of the next one', async ({ service, tokens }) => {
  const { nft } = await issueOne(service, tokens.contract);
  const node = await startNode(
    tokens.rpcUrl,
    of('eth_getLogs', () => failure(-32_000, 'logs are pruned')),
  );
  onTestFinished(() => node.close());
  await service.db('networks').update({ rpc_urls: [node.url, tokens.rpcUrl] });
  const ledger = begin(await service.twin());
  onTestFinished(() => ledger.stop());
  await mint(service, tokens, [nft], alice);
  await untilOwner(service, nft.id, alice);
});

test('follows a network that is registered later, and leaves one that is gone', async ({ service }) => {
  const { db } = service;
  const ledger = begin(service);
  onTestFinished(() => ledger.stop());
  const isFollowed = async () =>
    (await db('leases').where({ name: 'ownership 77' }).whereRaw('expires_at > clock_timestamp()')).length;
  await addNetwork(db, '77');
  await until('network 77 is followed', async () => (await isFollowed()) === 1);
  await db('networks').where({ chain_id: 77 }).delete();
  await until('network 77 is left', async () => (await isFollowed()) === 0);
});
