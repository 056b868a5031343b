import { getAddress, toBeHex } from 'ethers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examineUnfitContracts } from '../../src/rwa/mint-worker/unfit-contracts.ts';
import { saveContractVerdicts } from '../../src/rwa/minting/contract-verdict-store.ts';
import { addMintable } from '../rwa/mint-requests.ts';
import { addNetwork } from '../rwa/samples.ts';
import { type MintChain, startMintChain, startMintService } from '../support/minting.ts';
import type { TestService } from '../support/service.ts';

let chain: MintChain;
let service: TestService;

beforeEach(async () => {
  chain = await startMintChain();
  service = await startMintService(chain);
});
afterEach(async () => {
  await service.close();
  await chain.close();
});

const verdict = async () => (await service.db('contract_verdicts').first()).verdict;
/** As if the verdict had been found minutes ago. */
const age = () =>
  service.db('contract_verdicts').update({ checked_at: service.db.raw("now() - interval '6 minutes'") });

test('mints on a contract that was found unfit are accepted again once it is one', async () => {
  const code = await chain.call('eth_getCode', chain.contract, 'latest');
  await chain.call('anvil_setCode', chain.contract, '0x');
  const { path, secret } = await addMintable(service, 'acme', { contractAddress: chain.contract });
  const acme = service.as(service.keys.acme);
  const found = { chainId: chain.chainId, contract: chain.contract, verdict: 'unfit', detail: 'x' } as const;
  await saveContractVerdicts(service.db, [found]);

  await age();
  await examineUnfitContracts(service.parts);
  expect(await verdict()).toBe('unfit');
  await acme.post(path).send({ secret }).expect(409);

  await chain.call('anvil_setCode', chain.contract, code);
  // It was examined a moment ago.
  await examineUnfitContracts(service.parts);
  expect(await verdict()).toBe('unfit');
  await age();
  await examineUnfitContracts(service.parts);
  expect(await verdict()).toBe('fit');
  await acme.post(path).send({ secret }).expect(200);
});

test('a node that does not answer changes no verdict', async () => {
  const found = { chainId: chain.chainId, contract: chain.contract, verdict: 'unfit', detail: 'x' } as const;
  await saveContractVerdicts(service.db, [found]);
  await age();
  await service.db('networks').update({ rpc_urls: ['http://127.0.0.1:9'] });
  await expect
    .poll(async () => (await service.parts.networks.find(chain.chainId))?.rpcUrls)
    .toEqual(['http://127.0.0.1:9']);
  await examineUnfitContracts(service.parts);
  expect(await verdict()).toBe('unfit');
});

test('contracts of nodes that do not answer keep no other from being examined', async () => {
  const { db, parts } = service;
  const silent = { chainId: '4242', verdict: 'unfit', detail: 'x' } as const;
  const contracts = Array.from({ length: 5 }, (_, place) => getAddress(toBeHex(0xc000 + place, 20)));
  await addNetwork(db, silent.chainId, 'http://127.0.0.1:9');
  await expect.poll(() => parts.networks.find(silent.chainId)).toBeDefined();
  await saveContractVerdicts(
    db,
    contracts.map((contract) => ({ ...silent, contract })),
  );
  const fit = { ...silent, chainId: chain.chainId, contract: chain.contract };
  await saveContractVerdicts(db, [fit]);
  await age();
  await examineUnfitContracts(parts);
  await examineUnfitContracts(parts);
  expect(await db('contract_verdicts').where({ contract: fit.contract }).first()).toMatchObject({
    verdict: 'fit',
  });
});
