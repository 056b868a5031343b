import { JsonRpcProvider, Wallet } from 'ethers';
import { describe, expect, test } from 'vitest';
import { findProgram } from '../../scripts/find-program.ts';
import { createLogger } from '../../src/base/log.ts';
import { createMintNode } from '../../src/chain/minting/mint-node.ts';
import { createAudit } from '../../src/rwa/mint-worker/audit/audit.ts';
import { addNetwork, addRwa } from '../rwa/samples.ts';
import { deploy } from '../support/deploy.ts';
import { firedAlerts } from '../support/fired-alerts.ts';
import { keystoreSettings } from '../support/keystore-settings.ts';
import { type MintChain, startMintChain, startMintService, until, untilAll } from '../support/minting.ts';
import { startNode } from '../support/node/node.ts';
import { startOtherChain } from '../support/node/orphan.ts';
import { startWatchedNode } from '../support/node/watched-node.ts';
import { keepsBroadcasts } from '../support/node/wrongs.ts';
import type { TestService } from '../support/service.ts';
import { compileContracts } from '../support/solidity.ts';
import { alertsOf } from './alert-causes.ts';
import { type ScrapedProcess, startScraped } from './scraped-process.ts';

/** To whom the contract does not mint. */
const unverified = '0x00000000000000000000000000000000DeaDBeef';
const begunAnew = '31338';

/** A chain with a contract that refuses one recipient, and a node in front of it that may swallow what is sent. */
async function startPickyChain(opened: AsyncDisposableStack) {
  const chain = opened.adopt(await startMintChain(), (each) => each.close());
  const picky = await deploy(chain.rpcUrl, (await compileContracts())['Picky']);
  await chain.call('anvil_setCode', chain.contract, await chain.call('eth_getCode', picky, 'latest'));
  await chain.mine(5);
  return { chain, node: opened.adopt(await startWatchedNode(chain.rpcUrl), (each) => each.close()) };
}

/** A process that mints and indexes, the service that accepts mints for it, and what may go wrong around both. */
async function startWorld(opened: AsyncDisposableStack) {
  const { chain, node } = await startPickyChain(opened);
  const other = opened.adopt(await startOtherChain([], { chainId: begunAnew }), (each) => each.close());
  const indexed = opened.adopt(await startNode(other.rpcUrl), (each) => each.close());
  const service = opened.adopt(await startMintService(chain), (each) => each.close());
  await service.db('networks').update({ rpc_urls: [node.url, other.rpcUrl], confirmations: 1 });
  await addNetwork(service.db, begunAnew, indexed.url);
  const worker = await startScraped(
    service.databaseUrl,
    {
      ROLES: 'worker,indexer',
      SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      MINT_STUCK_BLOCKS: '1',
      RPC_FINALITY_NODES: '1',
      RPC_TIMEOUT_MS: '1500',
      INDEX_POLL_MS: '50',
      ...(await keystoreSettings(chain.chainId, chain.keys[0] ?? '')),
    },
    { mintPollMs: 50, mintRebroadcastMs: 300, mintLeaseSeconds: 5, mintStandstillSeconds: 5 },
  );
  opened.defer(() => worker.stop());
  return { chain, node, indexed, service, worker };
}

/** Waits until the process shows it, with a block for each look. @returns all that it shows */
async function untilShown(worker: ScrapedProcess, shown: RegExp, chain?: MintChain): Promise<string> {
  let text = '';
  await until(String(shown), async () => {
    await chain?.mine();
    text = await worker.settled();
    return shown.test(text);
  });
  return text;
}

async function createAcceptance({ db, companies, as, keys }: TestService, chain: MintChain) {
  const rwa = await addRwa(db, companies.acme, { isClaimable: true, contractAddress: chain.contract });
  return async (body: object = {}): Promise<string> =>
    (await as(keys.acme).post(`/v1/api/rwa/${rwa.id}/mint`).send(body).expect(200)).body.nftId;
}

/** The turn of the audit that a worker has after half a minute. */
async function compare({ db, parts }: TestService): Promise<void> {
  await createAudit({
    db,
    networks: parts.networks,
    log: createLogger({ level: 'silent' }),
    restSeconds: 0,
    nodeOf: async (network) => {
      // The other node of the network serves another chain, and this process would need two to agree.
      const alone = { ...network, rpcUrls: network.rpcUrls.slice(0, 1) };
      const pinned = await parts.clients.pool(alone).pin({ ...network, known: undefined });
      return createMintNode(pinned.provider, pinned);
    },
  }).turn();
}

/** A transaction of the signer that the service knows nothing of. */
async function spendElsewhere(chain: MintChain): Promise<void> {
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1 });
  try {
    await new Wallet(chain.keys[0] ?? '', provider).sendTransaction({ to: unverified, value: 1n });
  } finally {
    provider.destroy();
  }
}

describe.skipIf(findProgram('promtool') === undefined)('alerts of minting, over what a process shows', () => {
  test('fire for what is wrong, and nothing else does', async () => {
    await using opened = new AsyncDisposableStack();
    const { chain, node, indexed, service, worker } = await startWorld(opened);
    const before = await untilShown(worker, /^tallystick_mint_lane_held\{.*\} 1$/m);
    expect(await firedAlerts({ before, after: before })).toEqual([]);
    // Its contract has a ledger, which asks all nodes.
    const accept = await createAcceptance(service, chain);

    node.setFlaws(keepsBroadcasts());
    const first = await accept();
    await untilAll(service, [first], 'submitted');
    const swallowed = await untilShown(worker, /^tallystick_mint_unexplained\{.*\} 1$/m, chain);

    node.setFlaws();
    const refused = await accept({ recipient: unverified });
    const second = await accept();
    await untilShown(worker, /^tallystick_mint_failed_total\{.*\} 1$/m, chain);
    await untilAll(service, [refused], 'failed');
    await untilAll(service, [first, second], 'minted');

    await service
      .db('nfts')
      .where({ id: first })
      .update({ minted_tx: `0x${'12'.repeat(32)}` });
    await chain.mine(5);
    await compare(service);
    await spendElsewhere(chain);
    await chain.call('anvil_setBalance', new Wallet(chain.keys[0] ?? '').address, '0x1');
    const waiting = await accept();
    await untilShown(worker, /^tallystick_mint_lane_paused\{.*reason="balance_too_low"\} 1$/m, chain);
    await service
      .db('nfts')
      .where({ id: waiting })
      .update({ queued_at: service.db.raw("now() - interval '20 minutes'") });
    await service.db('mint_notes').insert({ nft_id: waiting, reason: 'contract_nonsense', detail: '' });

    await untilShown(worker, new RegExp(`^tallystick_index_block\\{chain_id="${begunAnew}"\\} \\d\\d`, 'm'));
    const anew = opened.adopt(await startOtherChain([], { chainId: begunAnew }), (each) => each.close());
    indexed.leadTo(anew.rpcUrl);
    const after = await untilShown(
      worker,
      new RegExp(`^tallystick_index_stuck\\{chain_id="${begunAnew}"\\} 1$`, 'm'),
    );
    const fired = [
      ...(await firedAlerts({ before, after: swallowed })),
      ...(await firedAlerts({ before, after })),
    ];
    expect([...new Set(fired)].toSorted()).toEqual(alertsOf('minting'));
  });
});
