import { Interface } from 'ethers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deployData } from '../../src/chain/contracts/contract-calls.ts';
import { worldContracts } from '../../src/local/sample/contracts.ts';
import { startChain, type TestChain } from '../support/chain.ts';
import { deployer, sendMined } from '../support/deploy.ts';
import { indexChain } from '../support/index-chain.ts';
import { wallet as hostedWallet, walletTokens } from '../support/moralis-payloads.ts';
import { type MoralisServer, startMoralisServer } from '../support/moralis-server.ts';
import { startNode, type TestNode } from '../support/node/node.ts';
import { callsWith } from '../support/node/wrongs.ts';
import { startService, type TestService } from '../support/service.ts';
import { walk } from '../support/walk.ts';

const base = '/blockchain/v1/api/wallet';
const { SampleToken, SampleCollectible, SampleEdition } = worldContracts;
/** The third account of the chain, whose approvals are looked at, and the one that it lets do things. */
const owner = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const spender = '0x90f79bf6eb2c4f870365e785982e1f101e93b906';
const stranger = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const ether = 10n ** 18n;

let chain: TestChain;
let node: TestNode;
let upstream: MoralisServer;
let service: TestService;
const contracts = { token: '', spam: '', nfts: '', edition: '' };

const send = (from: string, to: string | undefined, data: string, value = 0n) =>
  sendMined(chain.rpcUrl, { from, to, data, value });

const calls = [SampleToken, SampleCollectible, SampleEdition].map(({ abi }) => new Interface(abi));
function encoded(name: string, values: readonly unknown[]): string {
  const found = calls.find((each) => each.getFunction(name) !== null);
  return found?.encodeFunctionData(name, values) ?? '0x';
}

beforeAll(async () => {
  chain = await startChain();
  node = await startNode(chain.rpcUrl);
  contracts.token = await send(deployer, undefined, deployData(SampleToken, ['Dollar', 'USD']));
  contracts.spam = await send(deployer, undefined, deployData(SampleToken, ['Visit free-usd.xyz', 'FREE']));
  contracts.nfts = await send(deployer, undefined, deployData(SampleCollectible, ['Cask', 'CASK']));
  contracts.edition = await send(deployer, undefined, deployData(SampleEdition, ['Print', 'PRNT']));
  const { token, spam, nfts } = contracts;
  await send(deployer, token, encoded('mint', [owner, 1_000n]));
  await send(deployer, spam, encoded('mint', [owner, 5n]));
  for (const id of [1n, 2n, 3n]) await send(deployer, nfts, encoded('mint', [owner, id]));
  await send(owner, token, encoded('approve', [spender, 600n]));
  await send(owner, token, encoded('approve', [stranger, 2n ** 256n - 1n]));
  await send(owner, nfts, encoded('approve', [spender, 2n]));
  await send(owner, nfts, encoded('approve', [spender, 3n]));
  await send(owner, nfts, encoded('setApprovalForAll', [stranger, true]));
  await send(owner, contracts.edition, encoded('setApprovalForAll', [spender, true]));
  await send(owner, contracts.edition, encoded('setApprovalForAll', [spender, false]));
  // Spends what was approved: no event tells of what is left, nor that the approval of the NFT has ended.
  await send(spender, token, encoded('transferFrom', [owner, spender, 450n]));
  await send(spender, nfts, encoded('transferFrom', [owner, spender, 3n]));
  await send(owner, spender, '0x', ether);
  upstream = await startMoralisServer({
    histories: {},
    nfts: {},
    tokens: { [`0x1:${hostedWallet}`]: walletTokens },
    chains: { [hostedWallet]: ['0x1'] },
  });
  service = await startService({ rpcUrl: node.url, moralis: upstream });
  await indexChain(service, chain.rpcUrl, 'debug');
});
afterAll(async () => {
  await service.close();
  await node.close();
  await chain.close();
  await upstream.close();
});

afterEach(() => node.setFlaws());

/** Answers calls of a contract with an error. */
const about = (contract: string, error: { code: number; message: string }) =>
  callsWith(contract.slice(2), { error });

const ask = (path: string, query: Readonly<Record<string, string>>) =>
  service
    .as(service.keys.noCompany)
    .get(`${base}/${path}?${new URLSearchParams({ address: owner, chainId: '31337', ...query })}`);
const hosted = { chainId: '1', address: hostedWallet };

/** Every page of a list. */
async function whole(path: string, limit: string): Promise<Record<string, unknown>[]> {
  const pages = await walk(async (cursor) => {
    const { body, headers } = await ask(path, { limit, ...(cursor && { cursor }) }).expect(200);
    const next: string | undefined = body.cursor;
    expect(headers['link'] !== undefined).toBe(next !== undefined);
    if (next !== undefined) expect(headers['link']).toContain(`<${base}/${path}?`);
    return { next, result: body.result };
  });
  return pages.flatMap(({ result }) => result);
}

/** Asks another process, which remembers nothing of the contracts. */
async function askAnother(path: string) {
  const twin = await service.twin();
  const query = new URLSearchParams({ address: owner, chainId: '31337' });
  return (await twin.as(twin.keys.acme).get(`${base}/${path}?${query}`).expect(200)).body;
}

describe('200: the tokens of a wallet', () => {
  test('have the balances of their contracts, and spam is marked or left out', async () => {
    const { body, headers } = await ask('tokens', {}).expect(200);
    expect(body.result).toEqual(
      [
        { token_address: contracts.token, name: 'Dollar', symbol: 'USD', decimals: 6, logo: null },
        { token_address: contracts.spam, name: 'Visit free-usd.xyz', symbol: 'FREE', decimals: 6 },
      ]
        .map((token) => ({
          logo: null,
          ...token,
          balance: token.symbol === 'USD' ? '550' : '5',
          balance_formatted: token.symbol === 'USD' ? '0.00055' : '0.000005',
          possible_spam: token.symbol === 'FREE',
        }))
        .sort((a, b) => (a.token_address < b.token_address ? -1 : 1)),
    );
    expect(body.coverage.to_block).toBe(headers['x-index-block-number']);
    const { body: clean } = await ask('tokens', { includeSpam: 'false' }).expect(200);
    expect(clean.result.map((token: { symbol: string }) => token.symbol)).toEqual(['USD']);
  });

  test('are the same however they are paged', async () => {
    const all = await whole('tokens', '100');
    expect(all).toHaveLength(2);
    expect(await whole('tokens', '1')).toEqual(all);
  });

  test('are there beside one that nodes answer in words that nobody knows', async () => {
    node.setFlaws(about(contracts.spam, { code: -32000, message: 'not enough cpu counters to continue' }));
    const body = await askAnother('tokens');
    expect(body.result).toMatchObject([{ symbol: 'USD', balance: '550' }]);
  });

  test('are those of the hosted provider, with its cursor', async () => {
    upstream.forget();
    const { body } = await ask('tokens', { ...hosted, limit: '1', includeSpam: 'false' }).expect(200);
    expect(body.result).toMatchObject([{ symbol: 'BUSD', decimals: 18, balance: '2102143890000000000' }]);
    const next = await ask('tokens', { ...hosted, cursor: body.cursor }).expect(200);
    expect(next.body).toMatchObject({ page: 1, result: [{ name: null, balance_formatted: '0.7' }] });
    expect(upstream.asked[0]?.query).toMatchObject({ exclude_native: 'true', exclude_spam: 'true' });
  });
});

describe('200: the approvals of a wallet', () => {
  test('are those that stand, with what is left of them and what they put at risk', async () => {
    const { body } = await ask('approvals', {}).expect(200);
    const lines = body.result.map((each: Record<string, unknown>) =>
      [
        ...[each['token_symbol'], each['kind'], each['spender'], each['token_id'], each['amount']],
        ...[each['is_unlimited'], each['value_at_risk'], each['is_confirmed']],
      ].join(' '),
    );
    expect(lines.sort()).toEqual([
      `CASK all ${stranger}   true 2 true`,
      `CASK token ${spender} 2  false 1 true`,
      `USD amount ${stranger}  ${2n ** 256n - 1n} true 550 true`,
      `USD amount ${spender}  150 false 150 true`,
    ]);
    const given = body.result.find((each: { amount: string }) => each.amount === '150');
    expect(given).toMatchObject({ value_at_risk_formatted: '0.00015', last_changed_block: '10' });
  });

  test('are the same however they are paged', async () => {
    const all = await whole('approvals', '100');
    expect(await whole('approvals', '1')).toEqual(all);
    expect(await whole('approvals', '2')).toEqual(all);
  });

  test('are those of their last events where a contract fails', async () => {
    node.setFlaws(({ method }) => (method === 'eth_call' ? { result: '0x' } : undefined));
    const body = await askAnother('approvals');
    const amounts = body.result.filter(({ kind }: { kind: string }) => kind === 'amount');
    expect(amounts).toHaveLength(2);
    expect(amounts).toContainEqual(
      expect.objectContaining({ amount: '600', value_at_risk: null, is_confirmed: false }),
    );
  });

  test('are all there beside a contract that nodes answer in words that nobody knows, its own unconfirmed', async () => {
    node.setFlaws(about(contracts.nfts, { code: -32603, message: 'Internal error' }));
    const body = await askAnother('approvals');
    const kinds = (isConfirmed: boolean) =>
      body.result.flatMap((each: { is_confirmed: boolean; kind: string }) =>
        each.is_confirmed === isConfirmed ? each.kind : [],
      );
    expect(kinds(true)).toEqual(['amount', 'amount']);
    expect(kinds(false).sort()).toEqual(['all', 'token', 'token']);
  });
});

describe('200: a reconciliation', () => {
  test('explains a balance by what was there before the first block', async () => {
    const { body } = await ask('reconciliation', {}).expect(200);
    expect(body).toMatchObject({
      status: 'explained',
      unattributed: '0',
      difference: String(10_000n * ether),
    });
    expect(body.reasons).toEqual([
      { reason: 'before_first_block', amount: String(10_000n * ether), count: null },
    ]);
    expect(BigInt(body.balance)).toBe(10_000n * ether - ether - BigInt(body.fees));
    expect((await ask('reconciliation', { address: contracts.token }).expect(200)).body).toMatchObject({
      status: 'equal',
      balance: '0',
      expected: '0',
      reasons: [],
    });
  });

  test('is one of a past block', async () => {
    const { body: now } = await ask('reconciliation', {}).expect(200);
    const past = String(BigInt(now.block_number) - 1n);
    const { body, headers } = await ask('reconciliation', { asOf: past }).expect(200);
    expect(body).toMatchObject({ block_number: past, status: 'explained', movements: '0' });
    expect(now.movements).toBe(String(-ether));
    expect(headers['x-index-block-number']).toBe(now.block_number);
    const same = await ask('reconciliation', { asOf: now.block_number }).expect(200);
    expect(same.body).toEqual(now);
  });

  test('is made from the nearer side of a past block, and refused where both have too much', async () => {
    const { db } = service;
    const many = (from: number) =>
      db.raw(
        `INSERT INTO wallet_history (chain_id, wallet, block_number, tx_index, tx_hash, block_hash, block_time, tx, kind)
         SELECT chain_id, wallet, block_number, n, tx_hash, block_hash, block_time, tx, kind
         FROM wallet_history, generate_series(1000, 11001) n
         WHERE wallet = ?::bytea AND block_number = ? AND tx_index = 0`,
        [`\\x${stranger.slice(2)}`, from],
      );
    for (const _ of [1, 2]) await send(stranger, stranger, '0x');
    await indexChain(service, chain.rpcUrl, 'debug');
    const { body } = await ask('reconciliation', { address: stranger }).expect(200);
    const last = Number(body.block_number);
    await many(last);
    const asOf = String(last - 1);
    const nearer = await ask('reconciliation', { address: stranger, asOf }).expect(200);
    expect(nearer.body).toMatchObject({ status: 'explained', unattributed: '0' });
    await many(last - 1);
    const refused = await ask('reconciliation', { address: stranger, asOf }).expect(400);
    expect(refused.body).toMatchObject({
      code: 'as_of_too_far',
      detail: `More than 10000 records of the wallet, or very large ones, lie on both sides of block ${asOf}`,
    });
  });

  test('names what it cannot know, and tells where nothing explains a difference', async () => {
    const { db } = service;
    await db('native_sums')
      .where('wallet', Buffer.from(owner.slice(2), 'hex'))
      .update({ moved: db.raw('moved + 5') });
    expect((await ask('reconciliation', {}).expect(200)).body).toMatchObject({
      status: 'unexplained',
      unattributed: '-5',
      reasons: [{ reason: 'before_first_block' }],
    });
    await db('index_state').update({ untraced_blocks: 2, unrewarded_blocks: 3, partial_fees: 4 });
    const less = (await ask('reconciliation', {}).expect(200)).body;
    expect(less.status).toBe('explained');
    expect(less.reasons.slice(1)).toEqual([
      { reason: 'untraced_blocks', amount: null, count: '2' },
      { reason: 'l1_data_fee_unknown', amount: null, count: '4' },
    ]);
    await db('native_sums')
      .where('wallet', Buffer.from(owner.slice(2), 'hex'))
      .update({ moved: db.raw('moved - 10'), unknown_fees: 1 });
    const more = (await ask('reconciliation', {}).expect(200)).body;
    expect(more.unattributed).toBe('5');
    expect(more.reasons.slice(1).map(({ reason }: { reason: string }) => reason)).toEqual([
      ...['untraced_blocks', 'rewards_unknown'],
    ]);
  });
});

describe('the networks of the service', () => {
  const path = '/blockchain/v1/api/networks';

  test('200: have their native asset, what counts as final and what their history covers', async () => {
    const { body } = await service.as(service.keys.acme).get(path).expect(200);
    const [hosted, indexed] = body.result;
    expect(body.result).toHaveLength(2);
    expect(hosted).toMatchObject({ chainId: 1, history_source: 'hosted_provider' });
    expect(hosted).not.toHaveProperty('coverage');
    expect(indexed).toMatchObject({
      chainId: 31337,
      native_asset: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      confirmations: expect.any(Number),
      finality_depth: expect.any(Number),
      history_source: 'own_index',
    });
    // The same as an answer about a wallet says of the same block.
    const query = new URLSearchParams({ address: owner, chainId: '31337' });
    const history = await service.as(service.keys.acme).get(`${base}/history?${query}`).expect(200);
    expect(indexed.coverage).toEqual(history.body.history.coverage);
  });

  test('200: have no coverage while the index has no block', async () => {
    const changed = service.db('index_state').where({ chain_id: '31337' });
    const { head_number } = await changed.clone().first('head_number');
    await changed.clone().update({ head_number: null });
    const { body } = await service.as(service.keys.acme).get(path);
    await changed.update({ head_number });
    expect(body.result[1]).toMatchObject({ chainId: 31337 });
    expect(body.result[1]).not.toHaveProperty('coverage');
  });

  test('400: there is nothing to ask for', async () => {
    await service.as(service.keys.acme).get(`${path}?chainId=1`).expect(400);
  });
});

describe('200: the networks of a wallet', () => {
  const ofWallet = (address: string) =>
    service.as(service.keys.acme).get(`${base}/chains?${new URLSearchParams({ address })}`);

  test('have the first and the last block of each, from index and provider', async () => {
    const { body } = await ofWallet(owner).expect(200);
    expect(body).toMatchObject({
      address: owner,
      result: [{ chainId: 31337, first_block: '5', last_block: expect.any(String) }],
      unavailable: [],
    });
    expect(body.result).toHaveLength(1);
    expect((await ofWallet(hostedWallet).expect(200)).body.result).toMatchObject([
      { chainId: 1, first_block: '14473307', last_block_timestamp: '2025-05-29T19:55:35.000Z' },
    ]);
  });

  test('are told without those whose source does not answer', async () => {
    upstream.meet(400);
    const { body } = await ofWallet(owner).expect(200);
    upstream.forget();
    expect(body).toMatchObject({ result: [{ chainId: 31337 }], unavailable: [1] });
  });

  test('400: the address must have its checksum', async () => {
    const { body } = await ofWallet('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293bc').expect(400);
    expect(body.detail).toBe('address has a wrong EIP-55 checksum');
  });
});

describe('400', () => {
  test.each([
    ['approvals', 'approvals'],
    ['reconciliation', 'reconciliations'],
  ])('%s: are not told by a hosted provider, which is named', async (path, subject) => {
    const message = `The data provider moralis of this network does not tell ${subject}`;
    const { body } = await ask(path, hosted).expect(400);
    expect(body).toMatchObject({
      code: 'operation_unsupported',
      detail: message,
      errors: [{ in: 'query', name: 'chainId', message }],
    });
  });

  test('a block that the index does not have is refused', async () => {
    const { body } = await ask('reconciliation', { asOf: '999999' }).expect(400);
    expect(body.code).toBe('block_not_indexed');
    expect(body.detail).toBe('Block 999999 is not in the index of this network');
  });

  test.each(['tokens', 'approvals'])('%s: a cursor belongs to its list', async (path) => {
    const { cursor } = (await ask(path, { limit: '1' }).expect(200)).body;
    const other = path === 'tokens' ? 'approvals' : 'tokens';
    for (const refused of [ask(other, { cursor }), ask(path, { cursor, address: stranger })]) {
      expect((await refused.expect(400)).body.code).toBe('cursor_invalid');
    }
  });
});

describe('502: the node', () => {
  test.each([
    ['tokens', 'tokens_unavailable', 'Failed to fetch tokens.'],
    ['approvals', 'approvals_unavailable', 'Failed to fetch approvals.'],
    ['reconciliation', 'balance_unavailable', 'Failed to fetch token balance.'],
  ])('%s: fails, or is in another branch', async (path, code, detail) => {
    const twin = await service.twin();
    const query = new URLSearchParams({ address: owner, chainId: '31337' });
    const answers = [
      () => ({ error: { code: -32000, message: 'header not found' } }),
      () => ({ error: { code: -32000, message: 'backend is down' } }),
      ({ method }: { method: string }) =>
        method === 'eth_getBlockByNumber' ? { result: { hash: `0x${'0b'.repeat(32)}` } } : undefined,
    ];
    for (const alteration of answers) {
      node.setFlaws(alteration);
      const { body } = await twin.as(twin.keys.acme).get(`${base}/${path}?${query}`).expect(502);
      expect(body).toMatchObject({ code, detail });
    }
    node.setFlaws();
  });

  test.each(['tokens', 'approvals'])('%s: answers no calls, or wants fewer of them', async (path) => {
    const query = new URLSearchParams({ address: owner, chainId: '31337' });
    for (const error of [
      { code: -32603, message: 'Internal error' },
      { code: -32005, message: 'too many requests' },
    ]) {
      const twin = await service.twin();
      node.setFlaws(({ method }) => (method === 'eth_call' ? { error } : undefined));
      const { body } = await twin.as(twin.keys.acme).get(`${base}/${path}?${query}`).expect(502);
      expect(body.code).toBe(`${path}_unavailable`);
    }
  });

  test('tokens: the hosted provider fails', async () => {
    upstream.meet(400);
    expect((await ask('tokens', hosted).expect(502)).body.code).toBe('tokens_unavailable');
    upstream.forget();
  });
});
