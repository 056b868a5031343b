import { Interface } from 'ethers';
import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { holdingQuery, pastQuery } from '../../src/providers/indexer/read/holding-queries.ts';
import { deleteIndex } from '../../src/providers/indexer/store/rollback/reset-store.ts';
import { hex } from '../../src/providers/indexer/store/rows/bulk-store.ts';
import { nftChanges } from '../../src/providers/indexer/store/rows/nft-changes.ts';
import { compareBlock } from '../../src/providers/indexer/store/verify/verify-store.ts';
import { createAccountStates } from '../../src/providers/indexer/verification/account-states.ts';
import { createStartFiller } from '../../src/providers/indexer/verification/start-filler.ts';
import type { TestChain } from '../support/chain.ts';
import { closing } from '../support/closing.ts';
import type { TestDatabase } from '../support/database.ts';
import { callNode, deploy, sendMined } from '../support/deploy.ts';
import { test } from '../support/fixtures.ts';
import { startReplayNode } from '../support/node/replay.ts';
import { decodeRecorded, type RecordedBlock, readFixture } from '../support/recorded-chain.ts';
import { compileContracts } from '../support/solidity.ts';
import { createTestIndex } from './index-fixture.ts';
import { readerOf } from './reader.ts';

const log = createLogger({ level: 'silent' });

test.afterEach(async ({ database }) => {
  const { signal } = new AbortController();
  for (const chainId of ['137', '31337'])
    await deleteIndex(database.db, chainId, { signal, onProgress: () => {} });
});

type Index = ReturnType<typeof createTestIndex>;

async function fillStarts({ network, clients }: Index, { db }: TestDatabase): Promise<void> {
  const states = createAccountStates(clients.for(network));
  const fill = createStartFiller({ chainId: network.chainId, db, states, log });
  while (await fill());
}

async function listOf({ network }: Index, database: TestDatabase, address: string, toBlock?: bigint) {
  const { entries, coverage } = await readerOf(database, network).nfts(address, toBlock ? { toBlock } : {});
  const held = entries.map(
    ({ token_id, amount, contract_type }) => `${contract_type} #${token_id}: ${amount}`,
  );
  return { held: held.sort(), amounts: coverage?.nftAmounts };
}

describe('on a local chain whose index begins in the middle', () => {
  const abi = new Interface([
    'function mint(address to, uint256 id, uint256 amount)',
    'function mint(address to, uint256 id)',
    'function transferFrom(address from, address to, uint256 id)',
    'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  ]);
  const call = (name: string, values: readonly unknown[]) => abi.encodeFunctionData(name, values);
  const send = ({ rpcUrl }: TestChain, from: string, to: string, data: string) =>
    sendMined(rpcUrl, { from, to, data });
  const blockOf = async ({ rpcUrl }: TestChain) =>
    BigInt(await callNode<string>(rpcUrl, 'eth_blockNumber', []));

  async function begin(chain: TestChain) {
    const accounts = await callNode<string[]>(chain.rpcUrl, 'eth_accounts', []);
    const [a = '', b = '', c = ''] = accounts.map((account) => account.toLowerCase());
    const compiled = await compileContracts();
    const pieces = await deploy(chain.rpcUrl, compiled['Pieces']);
    const nft = await deploy(chain.rpcUrl, compiled['Collectible']);
    await send(chain, a, pieces, call('mint(address,uint256,uint256)', [b, 7n, 50n]));
    await send(chain, a, pieces, call('mint(address,uint256,uint256)', [b, 8n, 5n]));
    await send(chain, a, nft, call('mint(address,uint256)', [b, 1n]));
    return { a, b, c, pieces, nft, startBlock: (await blockOf(chain)) + 1n };
  }

  type Played = Awaited<ReturnType<typeof begin>>;

  async function play(chain: TestChain, { a, b, c, pieces, nft }: Played): Promise<void> {
    await send(chain, b, pieces, call('safeTransferFrom', [b, c, 7n, 20n, '0x']));
    await send(chain, b, nft, call('transferFrom', [b, c, 1n]));
    await send(chain, a, pieces, call('mint(address,uint256,uint256)', [b, 8n, 1n]));
    await send(chain, b, pieces, call('safeTransferFrom', [b, c, 8n, 6n, '0x']));
  }

  test('lists what the contracts say, also as of a block and after a reorganisation', async ({
    database,
    chain,
  }) => {
    const played = await begin(chain);
    const { b, c, startBlock } = played;
    const index = closing(
      createTestIndex(database, chain.rpcUrl, { chainId: '31337', startBlock, finalityDepth: 9 }),
    );
    await play(chain, played);
    await index.follow();
    expect(await listOf(index, database, b)).toEqual({ held: [], amounts: 'since_start' });
    await fillStarts(index, database);
    const ofB = { held: ['ERC1155 #7: 30'], amounts: 'whole' };
    const ofC = { held: ['ERC1155 #7: 20', 'ERC1155 #8: 6', 'ERC721 #1: 1'], amounts: 'whole' };
    expect(await listOf(index, database, b)).toEqual(ofB);
    expect(await listOf(index, database, c)).toEqual(ofC);
    const held = ['ERC1155 #7: 30', 'ERC1155 #8: 5', 'ERC721 #1: 1'];
    expect((await listOf(index, database, b, startBlock)).held).toEqual(held);
    expect((await listOf(index, database, b, startBlock + 2n)).held).toEqual([
      'ERC1155 #7: 30',
      'ERC1155 #8: 6',
    ]);
    for (let number = startBlock; number < startBlock + 4n; number += 1n) {
      expect(await compareBlock(database.db, '31337', await index.readBlock(number))).toEqual([]);
    }

    const give = (amount: bigint) =>
      send(chain, b, played.pieces, call('safeTransferFrom', [b, c, 7n, amount, '0x']));
    const snapshot = await callNode<string>(chain.rpcUrl, 'evm_snapshot', []);
    await give(1n);
    await index.follow();
    expect(await listOf(index, database, b)).toEqual({ ...ofB, held: ['ERC1155 #7: 29'] });
    await callNode(chain.rpcUrl, 'evm_revert', [snapshot]);
    await callNode(chain.rpcUrl, 'evm_mine', []);
    await give(2n);
    expect(await index.follow()).toContain('rolled_back');
    expect(await listOf(index, database, b)).toEqual({ ...ofB, held: ['ERC1155 #7: 28'] });
  });
});

describe('of real blocks', () => {
  const name = 'polygon/38102393';
  const balanceOf = '0x00fdd58e';
  const block = decodeRecorded(name, { traced: false });
  const changes = nftChanges(block);

  /** An index of the block; contracts say that everybody had a thousand of everything before. */
  async function indexBlock(database: TestDatabase): Promise<Index> {
    const recorded = readFixture<RecordedBlock>(name);
    const node = closing(await startReplayNode('137', [recorded]));
    node.setHead(recorded.block.hash);
    const sums = new Map<string, bigint>();
    for (const { wallet, contract, tokenId, delta } of changes) {
      const key = `${contract}${wallet}${tokenId}`;
      sums.set(key, (sums.get(key) ?? 1_000n) + delta);
    }
    node.answerCalls(({ to, data }) => {
      if (!data.startsWith(balanceOf)) return undefined;
      return sums.get(`${to}0x${data.slice(34, 74)}${BigInt(`0x${data.slice(74)}`)}`);
    });
    const index = closing(createTestIndex(database, node.url, { startBlock: block.header.number }));
    await index.follow();
    return index;
  }

  test('no holding is negative, and each is what its contract says', async ({ database }) => {
    const index = await indexBlock(database);
    const holdings = () => database.db('nft_holdings').where({ chain_id: '137', standard: 1155 });
    expect((await holdings().where('amount', '<', 0)).length).toBeGreaterThan(5);
    await fillStarts(index, database);
    const rows = await holdings();
    expect(rows.length).toBeGreaterThan(20);
    for (const { wallet, contract, token_id, amount, start_amount } of rows) {
      const own = changes.filter(
        (each) =>
          each.wallet === hex(wallet) && each.contract === hex(contract) && String(each.tokenId) === token_id,
      );
      expect(BigInt(amount)).toBe(own.reduce((sum, { delta }) => sum + delta, 1_000n));
      expect(start_amount).toBe('1000');
    }
    expect(await compareBlock(database.db, '137', await index.readBlock(block.header.number))).toEqual([]);
  });

  test('a list as of long ago is, page by page, that as of a little while ago', async ({ database }) => {
    const index = await indexBlock(database);
    await fillStarts(index, database);
    const { number } = block.header;
    const wallets = [...new Set(changes.map(({ wallet }) => wallet))].slice(0, 40);
    let compared = 0;
    for (const wallet of wallets) {
      for (const asOf of [number - 1n, number]) {
        for (const order of ['ASC', 'DESC'] as const) {
          const page = { chainId: '137', wallet, order, limit: 500, asOf, after: undefined };
          const { sql, bindings } = holdingQuery(page);
          const near = (await database.db.raw(sql, bindings)).rows.filter(
            (row: { contract: unknown }) => row.contract,
          );
          const far = await walkPast(database, page);
          expect(far).toEqual(near.map(nameOf));
          compared += near.length;
        }
      }
    }
    expect(compared).toBeGreaterThan(50);
  });

  type Row = {
    contract: Buffer;
    token_id: string;
    amount: string;
    acquired_block: string;
    acquired_log: number;
  };
  const nameOf = ({ contract, token_id, amount, acquired_block, acquired_log }: Row) =>
    [hex(contract), token_id, amount, acquired_block, acquired_log].join(' ');

  /** All pages, each of which looks at three acquisitions. */
  async function walkPast({ db }: TestDatabase, request: Parameters<typeof pastQuery>[0]): Promise<string[]> {
    const all: string[] = [];
    for (let after = request.after; ; ) {
      const { sql, bindings } = pastQuery({ ...request, after }, 3);
      const { rows } = await db.raw(sql, bindings as never); // named, as the query has them
      all.push(...rows.filter(({ contract }: Row) => contract !== null).map(nameOf));
      const [{ examined, edge_block, edge_log, edge_contract, edge_token }] = rows;
      if (examined < 3) return all;
      const acquired = { blockNumber: BigInt(edge_block), logIndex: edge_log };
      after = { contract: hex(edge_contract), tokenId: BigInt(edge_token), acquired };
    }
  }
});
