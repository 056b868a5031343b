import { Wallet } from 'ethers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openKmsKey } from '../../src/chain/minting/kms-signer.ts';
import { createMintWorker, type MintWorker } from '../../src/rwa/mint-worker/mint-worker.ts';
import { mintReasons } from '../../src/rwa/minting/mint-reason.ts';
import { kmsArn, startKms, type TestKms } from '../support/kms.ts';
import { until, untilAll } from '../support/minting.ts';
import { createMintSetup, type MintSetup } from './mint-setup.ts';

const gwei = 10n ** 9n;

let setup: MintSetup;
let kms: TestKms;
let worker: MintWorker;
beforeEach(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  setup = await createMintSetup();
  const { chain, service } = setup;
  const [privateKey = ''] = chain.keys;
  kms = await startKms(privateKey);
  const signer = await openKmsKey(kmsArn, { endpoint: kms.endpoint, timeoutMs: 200 });
  expect(signer.address).toBe(new Wallet(privateKey).address);
  const { db, notifications, networks, clients, log } = service.parts;
  const settings = {
    feeCap: 500n * gwei,
    maxInFlight: 16,
    blockShare: 50,
    stuckBlocks: 2,
    pollMs: 50,
    rebroadcastMs: 200,
    leaseSeconds: 2,
    standstillSeconds: 1_800,
    refreshSeconds: 0,
  };
  worker = createMintWorker({
    db,
    notifications,
    networks,
    clients,
    log,
    settings,
    observe: () => {},
    signers: [{ chainId: chain.chainId, name: kmsArn, open: async () => signer }],
  });
  await worker.start();
});
afterEach(async () => {
  await worker.stop();
  await kms.close();
  await setup.close();
  vi.unstubAllEnvs();
});

const lane = () => setup.service.db('mint_lanes').first();
const untilTold = () => until('the reason', async () => (await lane()).pause_reason === 'signer_unavailable');
const noteOf = async (id: string | undefined) =>
  (await setup.service.as(setup.service.keys.acme).get(`/v1/api/nft/${id}`)).body.mintNote;

describe('a key in AWS KMS that gives no signature', () => {
  test.for([
    ['down', 'ECONNREFUSED'],
    ['silent', 'requestTimeout'],
    ['refusing', 'not authorized to perform: kms:Sign'],
  ] as const)('since KMS is %s is told until it signs again', async ([state, words]) => {
    await kms.become(state);
    const ids = await setup.accept(2);
    await untilTold();
    expect((await lane()).pause_detail).toMatch(new RegExp(`^${setup.signers[0]} does not sign: .*${words}`));
    expect(await noteOf(ids[0])).toBe(mintReasons.signer_unavailable.note);

    await kms.become('up');
    const mining = setup.keepMining(50);
    await untilAll(setup.service, ids, 'minted');
    mining.stop();
    await until('the end', async () => (await lane()).pause_reason === null);
  });

  test('keeps nothing that is signed from being broadcast and watched, nor from costing more once it signs', async () => {
    const { chain, node, service } = setup;
    await chain.call('evm_setAutomine', false);
    const ids = await setup.accept(1);
    await untilAll(service, ids, 'submitted');
    await kms.become('down');
    // It is stuck then, and would be replaced.
    const dear = async () => {
      await chain.call('anvil_setNextBlockBaseFeePerGas', `0x${(100n * gwei).toString(16)}`);
      await chain.mine();
    };
    for (let block = 0; block < 4; block += 1) await dear();
    await untilTold();
    // What was told of the lane is no reason of what is sent.
    expect(await noteOf(ids[0])).toBeNull();
    const sent = node.given().length;
    await until('more broadcasts', async () => node.given().length > sent + 2);
    expect(await service.db('mint_attempts').select('number')).toEqual([{ number: 1 }]);

    await kms.become('up');
    await dear();
    await until('a higher fee', async () => (await service.db('mint_attempts')).length > 1);
    await until('the end', async () => (await lane()).pause_reason === null);
    await kms.become('down');
    const mining = setup.keepMining(50);
    await untilAll(service, ids, 'minted');
    mining.stop();
  });
});
