import { AbiCoder } from 'ethers';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createRpcClients } from '../../src/chain/rpc/client/rpc-clients.ts';
import {
  findContracts,
  listUnreadContracts,
} from '../../src/providers/indexer/store/tokens/contract-store.ts';
import {
  type ContractCalls,
  createContractCalls,
} from '../../src/providers/indexer/tokens/contract-calls.ts';
import { createTokenFiller } from '../../src/providers/indexer/tokens/token-filler.ts';
import type { TestDatabase } from '../support/database.ts';
import { deploy } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { installMulticall } from '../support/multicall.ts';
import { testNetwork } from '../support/networks.ts';
import { startNode } from '../support/node/node.ts';
import { compileContracts } from '../support/solidity.ts';

const chainId = '31337';
const log = createLogger({ level: 'silent' });
const names = ['Coin', 'OldCoin', 'BareCoin', 'HostileCoin', 'LyingCoin', 'YesCoin', 'GasBurner'] as const;
let addresses: Record<string, string>;

test.beforeAll(async ({ chain }) => {
  const compiled = await compileContracts();
  const deployed: [string, string][] = [];
  for (const name of names) deployed.push([name, await deploy(chain.rpcUrl, compiled[name])]);
  addresses = { ...Object.fromEntries(deployed), Nobody: `0x${'9'.repeat(40)}` };
});

const expected = {
  Coin: { name: 'Test Coin', symbol: 'COIN', decimals: 6 },
  OldCoin: { name: 'Old Coin', symbol: 'OLD', decimals: 18 },
  BareCoin: { name: null, symbol: null, decimals: null },
  HostileCoin: { name: null, symbol: null, decimals: null },
  LyingCoin: { name: null, symbol: 'AB', decimals: 255 },
  YesCoin: { name: null, symbol: null, decimals: 1 },
  GasBurner: { name: null, symbol: null, decimals: null },
  Nobody: { name: null, symbol: null, decimals: null },
};

async function readAll(database: TestDatabase, url: string) {
  await database.db('token_contracts').delete();
  for (const address of Object.values(addresses)) {
    await database.db('token_contracts').insert({
      chain_id: chainId,
      contract: Buffer.from(address.slice(2), 'hex'),
      standard: 20,
    });
  }
  const clients = createRpcClients({ timeoutMs: 10_000, log });
  const node = clients.for(testNetwork([url]));
  await createTokenFiller({ chainId, calls: createContractCalls({ node }), db: database.db }).fill();
  clients.close();
  expect(await listUnreadContracts(database.db, chainId, 10)).toEqual([]);
  const known = await findContracts(database.db, chainId, Object.values(addresses));
  const byAddress = new Map(known.map((text) => [text.contract, text]));
  return Object.fromEntries(
    Object.entries(addresses).map(([name, address]) => {
      const { name: text = null, symbol = null, decimals = null } = byAddress.get(address) ?? {};
      return [name, { name: text, symbol, decimals }];
    }),
  );
}

describe('token texts', () => {
  test('are read one by one where Multicall3 is not deployed, and no contract spoils those of others', async ({
    database,
    chain,
  }) => {
    expect(await readAll(database, chain.rpcUrl)).toEqual(expected);
  });

  test('are the same from Multicall3', async ({ database, chain }) => {
    await installMulticall(chain.rpcUrl);
    const proxy = await startNode(chain.rpcUrl);
    expect(await readAll(database, proxy.url)).toEqual(expected);
    await proxy.close();
  });

  test('of an ERC-1155 name each token, but none is longer than a URI may be', async ({ database }) => {
    const { db } = database;
    const uris = ['ipfs://x/{id}.json', '{id}'.repeat(25_000)];
    const contracts = uris.map((_uri, place) => Buffer.alloc(20, place + 1));
    for (const contract of contracts) {
      await db('nft_tokens').insert({
        chain_id: chainId,
        contract,
        token_id: '10',
        standard: 1155,
        uri_stale: true,
      });
    }
    const answerOf = (to: string) =>
      AbiCoder.defaultAbiCoder().encode(['string'], [uris[Number(to.at(-1)) - 1]]);
    const calls: ContractCalls = {
      readMany: async (asked, read) => asked.map(({ to }) => read(answerOf(to))),
    };
    await createTokenFiller({ chainId, calls, db }).fill();
    const found = await db('nft_tokens').orderBy('contract').select('token_uri', 'uri_stale');
    expect(found).toEqual([
      { token_uri: `ipfs://x/${'a'.padStart(64, '0')}.json`, uri_stale: false },
      { token_uri: null, uri_stale: false },
    ]);
    await db('nft_tokens').delete();
  });
});
