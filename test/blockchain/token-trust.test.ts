import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interface } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { deployData } from '../../src/chain/contracts/contract-calls.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import { worldContracts } from '../../src/local/sample/contracts.ts';
import { createAccountStates } from '../../src/providers/indexer/verification/account-states.ts';
import { createTransferChecker } from '../../src/providers/indexer/verification/transfer-checker.ts';
import { startChain, type TestChain } from '../support/chain.ts';
import { deploy, deployer, sendMined } from '../support/deploy.ts';
import { indexChain } from '../support/index-chain.ts';
import { testNetwork } from '../support/networks.ts';
import { startService, type TestService } from '../support/service.ts';
import { compileContracts } from '../support/solidity.ts';

const { SampleToken, SampleCollectible } = worldContracts;
const owner = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const stranger = `0x${'5a'.repeat(20)}`;

let chain: TestChain;
let service: TestService;
/** The same service with a token list. */
let listing: TestService;
let folder: string;
const contracts = { dollar: '', imitation: '', advert: '', seizing: '', nfts: '', adverts: '' };

const send = (from: string, to: string | undefined, data: string) =>
  sendMined(chain.rpcUrl, { from, to, data });

const seizing = new Interface([
  'function give(address to, uint256 value)',
  'function seize(address from, address to, uint256 value)',
]);

beforeAll(async () => {
  chain = await startChain();
  const coin = (name: string, symbol: string) =>
    send(deployer, undefined, deployData(SampleToken, [name, symbol]));
  const collection = (name: string) =>
    send(deployer, undefined, deployData(SampleCollectible, [name, 'CASK']));
  contracts.dollar = await coin('Dollar', 'USDC');
  // The last letter is Cyrillic.
  contracts.imitation = await coin('Dollar', 'USD\u0421');
  contracts.advert = await coin('Visit free-usd.xyz', 'FREE');
  contracts.nfts = await collection('Cask');
  contracts.adverts = await collection('Claim rewards at https://x.example');
  const { ForgingCoin } = await compileContracts();
  contracts.seizing = (await deploy(chain.rpcUrl, ForgingCoin)).toLowerCase();
  for (const [abi, token] of [
    [SampleToken.abi, contracts.dollar],
    [SampleToken.abi, contracts.imitation],
    [SampleToken.abi, contracts.advert],
    [SampleCollectible.abi, contracts.nfts],
    [SampleCollectible.abi, contracts.adverts],
  ] as const) {
    await send(deployer, token, new Interface(abi).encodeFunctionData('mint', [owner, 5n]));
  }
  const approval = new Interface(SampleToken.abi).encodeFunctionData('approve', [stranger, 5n]);
  for (const token of [contracts.dollar, contracts.imitation, contracts.advert]) {
    await send(owner, token, approval);
  }
  await send(deployer, contracts.seizing, seizing.encodeFunctionData('give', [owner, 9n]));
  await send(deployer, contracts.seizing, seizing.encodeFunctionData('seize', [owner, stranger, 9n]));
  service = await startService({ rpcUrl: chain.rpcUrl });
  await indexChain(service, chain.rpcUrl);
  await checkTransfers();
  folder = await mkdtemp(join(tmpdir(), 'token-list-'));
  const file = join(folder, 'tokens.json');
  const listed = (address: string, symbol: string) => ({ chainId: 31337, address, symbol, decimals: 6 });
  const tokens = [listed(contracts.dollar, 'USDC'), listed(contracts.seizing, 'SEIZ')];
  await writeFile(file, JSON.stringify({ name: 'Ours', tokens }));
  listing = await service.twin({ INDEX_TOKEN_LIST: file });
});
afterAll(async () => {
  await service.close();
  await chain.close();
  await rm(folder, { recursive: true });
});

async function checkTransfers(): Promise<void> {
  const log = createLogger({ level: 'silent' });
  const clients = createRpcClients({ timeoutMs: 5_000, log });
  const states = createAccountStates(clients.for(testNetwork([chain.rpcUrl])));
  const check = createTransferChecker({ chainId: '31337', db: service.db, states, log });
  while (await check());
  clients.close();
}

type Entry = Readonly<Record<string, unknown>>;

async function list(of: TestService, path: string, query: Readonly<Record<string, string>> = {}) {
  const search = new URLSearchParams({ address: owner, chainId: '31337', ...query });
  const { body } = await of.as(of.keys.acme).get(`/blockchain/v1/api/${path}?${search}`).expect(200);
  return (body.history?.result ?? body.result) as Entry[];
}

/** The contracts of a list of tokens, with what one field says of each. */
const told = (entries: readonly Entry[], field: string) =>
  Object.fromEntries(entries.map((entry) => [entry['token_address'], entry[field]]));

/** Of the records of a history, by the contract of their only transfer. */
const toldOf = (records: readonly Entry[], field: string) =>
  Object.fromEntries(
    records.flatMap((record) => {
      const moves = [record['erc20_transfers'], record['nft_transfers']].flat() as Entry[];
      return moves.map((move) => [move['address'] ?? move['token_address'], record[field]]);
    }),
  );

describe('a name that advertises', () => {
  test('is spam in a history, in lists of tokens and NFTs, and of approvals', async () => {
    const { dollar, advert, nfts, adverts } = contracts;
    const history = toldOf(await list(service, 'wallet/history'), 'possible_spam');
    expect(history).toMatchObject({ [dollar]: false, [advert]: true, [nfts]: false, [adverts]: true });
    const tokens = told(await list(service, 'wallet/tokens'), 'possible_spam');
    expect(tokens).toMatchObject({ [dollar]: false, [advert]: true });
    const approvals = told(await list(service, 'wallet/approvals'), 'possible_spam');
    expect(approvals).toMatchObject({ [dollar]: false, [advert]: true });
    expect(told(await list(service, 'nft'), 'possible_spam')).toEqual({ [nfts]: false, [adverts]: true });
  });

  test('is left out of every list without spam', async () => {
    const clean = { includeSpam: 'false' };
    const { dollar, advert, nfts, adverts } = contracts;
    const history = toldOf(await list(service, 'wallet/history', clean), 'possible_spam');
    expect(Object.keys(history)).toEqual(expect.arrayContaining([dollar, nfts]));
    expect(Object.keys(history)).not.toContain(advert);
    expect(Object.keys(history)).not.toContain(adverts);
    expect(Object.keys(told(await list(service, 'nft', clean), 'name'))).toEqual([nfts]);
    expect(Object.keys(told(await list(service, 'wallet/tokens', clean), 'name'))).not.toContain(advert);
  });
});

describe('a token list', () => {
  test('verifies its contracts', async () => {
    const { dollar, advert } = contracts;
    expect(told(await list(listing, 'wallet/tokens'), 'verified_contract')).toMatchObject({
      [dollar]: true,
      [advert]: false,
    });
    expect(told(await list(listing, 'wallet/approvals'), 'verified_contract')).toMatchObject({
      [dollar]: true,
      [advert]: false,
    });
    const moves = (await list(listing, 'wallet/history')).flatMap(
      (record) => record['erc20_transfers'] as Entry[],
    );
    const verified = Object.fromEntries(moves.map((move) => [move['address'], move['verified_contract']]));
    expect(verified).toMatchObject({ [dollar]: true, [advert]: false });
    expect(told(await list(service, 'wallet/tokens'), 'verified_contract')).toMatchObject({
      [dollar]: undefined,
    });
  });

  test('shows which symbols imitate it with letters that look the same, and calls these spam', async () => {
    const { dollar, imitation, advert } = contracts;
    const plain = await list(service, 'wallet/tokens');
    expect(told(plain, 'possible_spam')).toMatchObject({ [imitation]: false });
    for (const path of ['wallet/tokens', 'wallet/approvals']) {
      const entries = await list(listing, path);
      expect(told(entries, 'imitates')).toMatchObject({
        [dollar]: undefined,
        [imitation]: dollar,
        [advert]: undefined,
      });
      expect(told(entries, 'possible_spam')).toMatchObject({ [dollar]: false, [imitation]: true });
    }
    const history = await list(listing, 'wallet/history');
    expect(toldOf(history, 'possible_spam')).toMatchObject({ [dollar]: false, [imitation]: true });
    const moves = history.flatMap((record) => record['erc20_transfers'] as Entry[]);
    expect(moves.find((move) => move['address'] === imitation)).toMatchObject({ imitates: dollar });
    const clean = toldOf(await list(listing, 'wallet/history', { includeSpam: 'false' }), 'hash');
    expect(Object.keys(clean)).not.toContain(imitation);
  });

  test('vouches for what its contracts log, even where nobody signed', async () => {
    const seizures = async (of: TestService, query = {}) =>
      (await list(of, 'wallet/history', { ...query, token: contracts.seizing, direction: 'send' })).map(
        ({ possible_spam }) => possible_spam,
      );
    expect(await seizures(service)).toEqual([true]);
    expect(await seizures(listing)).toEqual([false]);
    expect(await seizures(service, { includeSpam: 'false' })).toEqual([]);
    expect(await seizures(listing, { includeSpam: 'false' })).toEqual([false]);
  });
});
