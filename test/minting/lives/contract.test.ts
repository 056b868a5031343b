import { JsonRpcProvider, Wallet, ZeroAddress } from 'ethers';
import { expect, test } from 'vitest';
import { startChain } from '../../support/chain.ts';
import { deployer, deployNft, minedReceipt } from '../../support/deploy.ts';
import { type Chance, createChance } from '../chance.ts';
import { abi, type ContractState, callContract, minterRole } from './contract.ts';

const calls = 1_000;
const accounts = ['01', '02', '03'].map((byte) => new Wallet(`0x${byte.repeat(32)}`).address);

/** A call as somebody may make it, also where it makes no sense. */
function drawCall(chance: Chance): { readonly from: string; readonly data: string } {
  const anybody = () => chance.of([...accounts, deployer]);
  const recipient = () => chance.of([...accounts, ...accounts, ZeroAddress]);
  const token = () => String(1 + chance.below(60));
  const of = (name: string, ...values: readonly unknown[]) => abi.encodeFunctionData(name, values);
  const batch = Array.from({ length: chance.below(5) }, () => [recipient(), token()] as const);
  const recipients = batch.map(([to]) => to);
  const data = chance.of([
    () => of('mint', recipient(), token()),
    () =>
      of(
        'mintBatch',
        recipients,
        batch.map(([, id]) => id),
      ),
    () =>
      of(
        'mintBatch',
        recipients,
        batch.map(([, id]) => id),
      ),
    () =>
      of(
        'mintBatch',
        [...recipients, anybody()],
        batch.map(([, id]) => id),
      ),
    () => of('transferFrom', anybody(), recipient(), token()),
    () => of('refreshMetadata', token(), token()),
    () => of('grantRole', minterRole, anybody()),
    () => of('revokeRole', minterRole, anybody()),
    () => of('hasRole', minterRole, anybody()),
    () => of('ownerOf', token()),
  ])();
  return { from: anybody(), data };
}

test('the model of the NFT contract does what the contract does in 1,000 random calls', {
  timeout: 120_000,
}, async () => {
  const chain = await startChain({});
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1, polling: true });
  const [first, second] = accounts;
  const nft = await deployNft(
    provider,
    [first, second].flatMap((account) => account ?? []),
  );
  const to = await nft.getAddress();
  for (const account of accounts) {
    await provider.send('anvil_setBalance', [account, '0x56bc75e2d63100000']);
    await provider.send('anvil_impersonateAccount', [account]);
  }
  let state: ContractState = {
    admin: deployer,
    minters: new Set([first, second].flatMap((account) => account?.toLowerCase() ?? [])),
    owners: new Map(),
  };
  const chance = createChance(54);
  let reverts = 0;
  for (let index = 0; index < calls; index += 1) {
    const { from, data } = drawCall(chance);
    const expected = callContract(state, from.toLowerCase(), data);
    const answer = await provider
      .send('eth_call', [{ from, to, data }, 'latest'])
      .catch((error) => error.error ?? error.info.error);
    const about = `call ${index}: ${abi.parseTransaction({ data })?.name}`;
    if ('revert' in expected) {
      reverts += 1;
      expect(answer.data, about).toBe(expected.revert);
      continue;
    }
    expect(answer, about).toBe(expected.data);
    const hash = await provider.send('eth_sendTransaction', [{ from, to, data, gas: '0x2dc6c0' }]);
    await minedReceipt(chain.rpcUrl, hash);
    const receipt = await provider.send('eth_getTransactionReceipt', [hash]);
    const logs = receipt.logs.map((log: { topics: string[]; data: string }) => ({
      topics: log.topics,
      data: log.data,
    }));
    expect(receipt.status, about).toBe('0x1');
    expect(logs, about).toEqual(expected.logs);
    // The lanes only need to know about how much a mint takes.
    expect(Number(expected.gas) / Number(receipt.gasUsed), about).toBeGreaterThan(0.8);
    expect(Number(expected.gas) / Number(receipt.gasUsed), about).toBeLessThan(1.4);
    state = expected.state;
  }
  expect(reverts).toBeGreaterThan(100);
  expect(state.owners.size).toBeGreaterThan(40);
  provider.destroy();
  await chain.close();
});
