import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Database } from '../../src/contract/transaction.ts';
import { acquireLease } from '../../src/db/leases/lease.ts';
import { indexLeaseName } from '../../src/providers/indexer/follow/index-runner.ts';
import { recordIndexError } from '../../src/providers/indexer/store/write/index-state-store.ts';
import { addNetwork } from '../rwa/samples.ts';
import { type Flaw, hexOf, of } from '../support/node/flaw.ts';
import { without } from '../support/node/limits.ts';
import { type ReplayNode, startReplayNode } from '../support/node/replay.ts';
import { recordedChanges, withWithdrawals } from '../support/recorded-withdrawals.ts';
import { commandLine } from './command-line.ts';
import { test } from './fixtures.ts';
import { noteLimits } from './noted-limits.ts';

const first = 17_686_111;
const names = [0, 1, 2, 3].map((place) => `ethereum/${first + place}`);
const recorded = names.map(withWithdrawals);
const hashAt = (place: number) => recorded[place]?.block.hash ?? '';
const log = createLogger({ level: 'silent' });
let node: ReplayNode;

beforeAll(async () => {
  node = await startReplayNode('1', recorded);
});
test.beforeEach(async ({ db }) => {
  node.setHead(hashAt(3));
  node.setFlaws();
  await addNetwork(db, '1');
  await db('networks').update({
    name: 'Ethereum',
    rpc_urls: [node.url],
    index_from: first,
    index_traces: 'debug',
  });
});
test.afterEach(async ({ db, run }) => {
  await run('index', 'reset', '1', '--yes');
  await db('networks').delete();
});
afterAll(async () => {
  await node.close();
});

const holdLease = (db: Database) =>
  acquireLease({
    db,
    name: indexLeaseName('1'),
    log,
    signal: new AbortController().signal,
  });

describe('index status', () => {
  test('says what is not begun', async ({ json }) => {
    const { status, value } = await json('index', 'status');
    expect(status).toBe(0);
    expect(value).toMatchObject([
      { chainId: '1', state: 'not begun', completeTo: null, nodeHead: String(first + 3), indexer: null },
    ]);
  });

  test('says to which block, hash and time an index is complete, and how far its node is', async ({
    run,
    json,
  }) => {
    await run('index', 'backfill', '1', '--to', String(first + 1));
    const { value } = await json('index', 'status', '1');
    expect(value).toMatchObject({
      chainId: '1',
      name: 'Ethereum',
      state: 'stopped: nobody indexes it',
      startBlock: String(first),
      completeTo: String(first + 1),
      completeToHash: hashAt(1),
      completeToTime: '2023-07-13T17:38:35.000Z',
      nodeHead: String(first + 3),
      behind: '2',
      newBlockAt: expect.any(String),
      innerValue: 'known by debug_traceBlockByHash',
      lastError: null,
      nodeError: null,
    });
    const { out } = await run('index', 'status');
    expect(out).toMatch(/^CHAIN +STATE +COMPLETE TO +OF +NODE AT +BEHIND/);
    expect(out).toContain(String(first + 1));
  });

  test('names the process that indexes, and says when it fails and why', async ({ db, run, json }) => {
    await run('index', 'backfill', '1');
    const lease = await holdLease(db);
    expect((await json('index', 'status', '1')).value).toMatchObject({
      state: 'following',
      indexer: expect.stringMatching(new RegExp(`:${process.pid}$`)),
      indexerSince: expect.any(String),
    });
    await recordIndexError(db, '1', 'the node is out');
    expect((await json('index', 'status', '1')).value).toMatchObject({
      state: 'failing',
      lastError: 'the node is out',
      lastErrorAt: expect.any(String),
    });
    await recordIndexError(db, '1', undefined);
    expect((await json('index', 'status', '1')).value).toMatchObject({ state: 'following', lastError: null });
    await lease.release();
  });

  test('says plainly where value that moves inside transactions is unknown', async ({ db, run, json }) => {
    const other = await startReplayNode('1', recorded);
    other.setHead(hashAt(3));
    other.setFlaws(without('debug_traceBlockByHash'));
    await db('networks').update({ rpc_urls: [other.url] });
    await run('index', 'backfill', '1');
    expect((await json('index', 'status', '1')).value).toMatchObject({
      innerValue: 'unknown in 4 block(s): the node has no debug_traceBlockByHash of them',
      untracedBlocks: '4',
    });
    await db('networks').update({ index_traces: 'none' });
    expect((await json('index', 'status', '1')).value.innerValue).toBe(
      'unknown: traces are not read (--index-traces)',
    );
    await other.close();
  });

  test('still tells what is known while the node does not answer', async ({ run, json }) => {
    await run('index', 'backfill', '1');
    node.setFlaws(() => 'drop');
    expect((await json('index', 'status', '1')).value).toMatchObject({
      completeTo: String(first + 3),
      nodeHead: String(first + 3),
      nodeError: expect.stringContaining('No node of network 1 answered'),
    });
  });

  test.for(['2', '9999'])('says that network %s has no index', async (chainId, { run }) => {
    expect(await run('index', 'status', chainId)).toEqual({
      status: 2,
      out: '',
      err: `Network ${chainId} has no index. List those that have: tallystick index status\n`,
    });
  });
});

describe('index backfill', () => {
  test('indexes up to a block, and then the rest up to the head', async ({ db, json }) => {
    const some = await json('index', 'backfill', '1', '--to', String(first + 1));
    expect(some).toMatchObject({
      status: 0,
      value: { chainId: '1', completeTo: String(first + 1), blocks: '2' },
    });
    const rest = await json('index', 'backfill', '1');
    expect(rest.value).toMatchObject({ completeTo: String(first + 3), blocks: '2' });
    const again = await json('index', 'backfill', '1');
    expect(again).toMatchObject({ status: 0, value: { completeTo: String(first + 3), blocks: '0' } });
    expect((await json('index', 'verify', '1')).value.differing).toBe(0);
    const entries = await db('audit_log').where({ action: 'index.backfill' }).orderBy('id', 'desc').limit(3);
    expect(entries.toReversed().map(({ subject, details }) => [subject, details.to])).toEqual([
      ['1', String(first + 1)],
      ['1', String(first + 3)],
      ['1', String(first + 3)],
    ]);
  });

  test('shows a bar with the time left to people who watch', async ({ settings }) => {
    const { err } = await commandLine(settings, { terminal: true }).run('index', 'backfill', '1');
    expect(err).toMatch(/Indexing .* 0% \| 0\/4 blocks \| \S+ left/);
    expect(err).toMatch(/100% \| 4\/4 blocks \| 0s left/);
  });

  test('keeps what is done when it is interrupted, and goes on from there', async ({ settings, json }) => {
    let asked = false;
    const interrupted = commandLine(settings, {
      terminal: true,
      onTold(text, interrupt) {
        if (!asked && text.includes('Indexing')) interrupt();
        asked ||= text.includes('Indexing');
      },
    });
    const { status, err } = await interrupted.run('index', 'backfill', '1');
    expect(status).toBe(130);
    expect(err).toContain('all blocks that were done stay; the same command goes on from there.');
    expect((await json('index', 'backfill', '1')).value.completeTo).toBe(String(first + 3));
    expect((await json('index', 'verify', '1', '--scan')).value.differing).toBe(0);
  });

  test('refuses while another process indexes the network, naming it; with --wait it waits', async ({
    db,
    settings,
    json,
  }) => {
    const lease = await holdLease(db);
    const { status, error } = await json('index', 'backfill', '1');
    expect(status).toBe(1);
    expect(error?.message).toMatch(
      new RegExp(`Network 1 is being indexed by .+:${process.pid} .since .*wait for it with --wait`),
    );
    const waiting = commandLine(settings, {
      onTold: (text) => {
        if (text.includes('Waiting for')) void lease.release();
      },
    });
    expect((await waiting.json('index', 'backfill', '1', '--wait')).value.completeTo).toBe(String(first + 3));
  });

  test('says what is wrong when the node fails for good, and keeps what is done', async ({ json }) => {
    let answers = 0;
    node.setFlaws(({ method }) => {
      if (method === 'eth_getBlockReceipts') answers += 1;
      return answers > 0 && method === 'debug_traceBlockByHash' ? 'drop' : undefined;
    });
    const { status, error } = await json('index', 'backfill', '1');
    expect(status).toBe(1);
    expect(error?.message).toContain('No node of network 1 answered');
    expect(error?.message).toContain('the same command goes on from there.');
  });

  test.for([
    [['1', '--to', String(first - 1)], `begins at block ${first}, after block ${first - 1}.`],
    [['1', '--to', String(first + 9)], `The node is at block ${first + 3}: --to must not be above it.`],
    [['2'], 'There is no network 2. List them with: tallystick network list'],
  ] as const)('refuses %j', async ([args, message], { json }) => {
    const { status, error } = await json('index', 'backfill', ...args);
    expect(status).toBe(2);
    expect(error?.message).toContain(message);
  });
});

describe('index verify', () => {
  test('compares random blocks, the same for the same seed, and finds nothing where all is right', async ({
    settings,
    run,
    json,
  }) => {
    await run('index', 'backfill', '1');
    const { status, value, notes } = await json('index', 'verify', '1', '--blocks', '2', '--seed', '7');
    expect({ status, value }).toMatchObject({
      status: 0,
      value: { seed: 7, blocks: 2, differing: 0, untraced: 0, differences: [] },
    });
    expect(notes[0]).toBe(`Comparing 2 of the blocks ${first} to ${first + 3}, picked with --seed 7.`);
    const random = await json('index', 'verify', '1', '--blocks', '2');
    expect(random.notes[0]).toContain(`--seed ${random.value.seed}.`);
    const { err } = await commandLine(settings, { terminal: true }).run('index', 'verify', '1');
    expect(err).toMatch(/Comparing .* 100% \| 4\/4 blocks \|/);
  });

  test('finds rows of every table that differ, are missing or needless, and exits with 1', async ({
    db,
    run,
    json,
  }) => {
    await run('index', 'backfill', '1');
    const at = { chain_id: '1', block_number: first + 1 };
    const [row] = await db('wallet_history').where(at).orderBy('wallet').limit(1);
    const [change] = await db('nft_changes').where(at).orderBy('wallet').limit(1);
    const [other] = await db('nft_changes').where(at).whereNot('wallet', change.wallet).limit(1);
    const copy = { ...row, tx: JSON.stringify(row.tx), moves: JSON.stringify(row.moves) };
    await db('wallet_history').insert({ ...copy, tx_index: row.tx_index + 5_000 });
    await db('wallet_history').insert({ ...copy, wallet: Buffer.alloc(20, 1) });
    await db('wallet_history')
      .where({ ...at, wallet: row.wallet, tx_index: row.tx_index })
      .update({ moves: '{}' });
    await db('nft_changes')
      .where({ ...at, wallet: change.wallet })
      .delete();
    await db('nft_holdings').where({ wallet: other.wallet, contract: other.contract }).update({ amount: 9 });
    await db('nft_tokens').where({ contract: other.contract }).delete();
    await db('token_contracts').where({ contract: other.contract }).delete();
    const [credit] = await db('block_credits').where(at).orderBy('wallet').limit(1);
    await db('block_credits')
      .where({ ...at, wallet: credit.wallet })
      .delete();
    const [approval] = await db('approval_changes')
      .where({ ...at, granted: true })
      .orderBy('wallet')
      .limit(1);
    const { wallet, contract, spender } = approval;
    await db('wallet_approvals').where({ wallet, contract, spender }).update({ granted: false });
    const all = await json('index', 'verify', '1');
    expect(all.status).toBe(1);
    const kinds = (value: { differences: { table: string; kind: string }[] }) => [
      ...new Set(value.differences.map(({ table, kind }) => `${table} ${kind}`)),
    ];
    expect(kinds(all.value).sort()).toEqual([
      'block_credits missing',
      'nft_changes missing',
      'nft_holdings other',
      'nft_tokens missing',
      'token_contracts missing',
      'wallet_approvals other',
      'wallet_history needless',
      'wallet_history other',
    ]);
    expect(all.notes.at(-1)).toContain('tallystick index reset 1');
    const scanned = await json('index', 'verify', '1', '--scan');
    const strange = `wallet=0x${'01'.repeat(20)} tx_index=${row.tx_index}`;
    expect(scanned.value.differences).toContainEqual({
      table: 'wallet_history',
      kind: 'needless',
      block: String(first + 1),
      row: strange,
    });
    expect(scanned.value.differing).toBe(all.value.differing + 1);
    const people = await run('index', 'verify', '1', '--from', String(first + 1), '--to', String(first + 1));
    expect(people.out).toMatch(/^BLOCK +TABLE +KIND +ROW/);
    expect((await json('index', 'verify', '1', '--to', String(first))).status).toBe(0);
    // An earlier release began the index, and kept neither credits nor approvals of its blocks.
    await db('index_state').update({ ledger_from: first + 1 });
    for (const table of ['block_credits', 'approval_changes', 'wallet_approvals']) await db(table).delete();
    expect((await json('index', 'verify', '1', '--to', String(first))).status).toBe(0);
  });

  test('--scan may take an hour for a statement', async ({ db, run, json }) => {
    await run('index', 'backfill', '1');
    const noted = await noteLimits(db, 'history_facets');
    expect((await json('index', 'verify', '1', '--blocks', '1', '--scan')).status).toBe(0);
    expect(await noted()).toEqual(['1h']);
    expect((await json('index', 'verify', '1', '--blocks', '1')).status).toBe(0);
    expect(await noted()).toEqual(['30s']);
  });

  test('--reconcile compares balances of random wallets, and exits with 1 where nothing explains one', async ({
    db,
    settings,
    run,
    json,
  }) => {
    await run('index', 'backfill', '1');
    const had = 10n ** 24n;
    const changes = new Map<string, bigint>();
    for (const each of names.map(recordedChanges)) {
      for (const [account, delta] of each) changes.set(account, (changes.get(account) ?? 0n) + delta);
    }
    const balanceOf: Flaw = ({ params: [account, block] }) => {
      const isBefore = BigInt(String(block)) < BigInt(first);
      return { result: hexOf(had + (isBefore ? 0n : (changes.get(String(account)) ?? 0n))) };
    };
    node.setFlaws(of('eth_getBalance', balanceOf));
    const { status, value, notes } = await json('index', 'verify', '1', '--reconcile', '40', '--seed', '7');
    expect(status).toBe(0);
    expect(value).toMatchObject({ seed: 7, equal: 0, unexplained: 0 });
    expect(value.wallets).toBeGreaterThan(30);
    expect(value.explained).toBe(value.wallets);
    expect(value.differences[0]).toMatchObject({ status: 'explained', difference: String(had) });
    expect(notes[0]).toMatch(/^Reconciling \d+ wallets of network 1, picked with --seed 7\.$/);
    const again = await json('index', 'verify', '1', '--reconcile', '40', '--seed', '7');
    expect(again.value).toEqual(value);
    const { err } = await commandLine(settings, { terminal: true }).run(
      ...['index', 'verify', '1', '--reconcile', '9'],
    );
    expect(err).toMatch(/Reconciling .* 100% \| \d\/\d wallets \|/);
    await db('native_sums').update({ fees: db.raw('fees - 1') });
    const wrong = await json('index', 'verify', '1', '--reconcile', '3');
    expect({ status: wrong.status, value: wrong.value }).toMatchObject({
      status: 1,
      value: {
        unexplained: wrong.value.wallets,
        differences: expect.arrayContaining([expect.objectContaining({ status: 'unexplained' })]),
      },
    });
    expect(wrong.notes.at(-1)).toContain('tallystick index verify 1');
  });

  test('says which blocks cannot be compared because the node has no traces any more', async ({
    db,
    run,
    json,
  }) => {
    await run('index', 'backfill', '1');
    const pruned = await startReplayNode('1', recorded);
    pruned.setHead(hashAt(3));
    pruned.setFlaws(without('debug_traceBlockByHash'));
    await db('networks').update({ rpc_urls: [pruned.url] });
    const { status, value, notes } = await json('index', 'verify', '1');
    expect({ status, value }).toMatchObject({ status: 0, value: { untraced: 4, differing: 0 } });
    expect(notes).toContain('4 block(s) were not compared: the node has no traces of them.');
    await pruned.close();
  });

  test.for([
    [[], 'Network 1 has no indexed block. See: tallystick index status'],
    [['--blocks', '0'], 'whole number from 1'],
    [['--seed', 'x'], 'whole number from 0'],
  ] as const)('refuses %j without an index', async ([args, message], { json }) => {
    const { status, error } = await json('index', 'verify', '1', ...args);
    expect(status).toBe(2);
    expect(error?.message).toContain(message);
  });

  test('refuses blocks that the index does not have', async ({ run, json }) => {
    await run('index', 'backfill', '1');
    const { status, error } = await json('index', 'verify', '1', '--to', String(first + 9));
    expect(status).toBe(2);
    expect(error?.message).toContain(`has the blocks ${first} to ${first + 3}`);
  });
});

describe('index skip', () => {
  test('leaves out a block that stops the index, and status, verify and the index itself say so', async ({
    db,
    run,
    json,
  }) => {
    await run('index', 'backfill', '1', '--to', String(first));
    const bad = String(first + 1);
    await db('index_state').update({ stuck_at: bad, stuck_reason: 'it is broken', stuck_since: new Date() });
    const skipped = await json('index', 'skip', '1', bad);
    expect(skipped).toMatchObject({
      status: 0,
      value: { chainId: '1', block: bad, reason: 'it is broken', recorded: true },
    });
    expect((await json('index', 'skip', '1', bad)).value).toMatchObject({ recorded: false });
    expect(await db('audit_log').where({ action: 'index.skip' }).pluck('details')).toEqual([{ block: bad }]);
    expect((await json('index', 'status', '1')).value).toMatchObject({
      stuckAt: bad,
      stuckReason: 'it is broken',
    });
    await run('index', 'backfill', '1');
    expect((await json('index', 'status', '1')).value).toMatchObject({
      completeTo: String(first + 3),
      skippedBlocks: '1',
    });
    const rows = await db('wallet_history').where('block_number', bad).count('* as count').first();
    expect(Number(rows?.['count'])).toBe(0);
    const { status, notes } = await json('index', 'verify', '1');
    expect(status).toBe(0);
    expect(notes).toContain('1 block(s) of the range are skipped: nothing of them is in the index.');
  });

  test('says "stuck" of an index that an indexer keeps and that stands still', async ({ db, run, json }) => {
    await run('index', 'backfill', '1', '--to', String(first));
    await db('index_state').update({
      stuck_at: first + 1,
      stuck_reason: 'it is broken',
      stuck_since: new Date(),
    });
    const lease = await holdLease(db);
    expect((await json('index', 'status', '1')).value).toMatchObject({ state: 'stuck' });
    await lease.release();
  });

  test('refuses a block that is in the index, and a network without one', async ({ run, json }) => {
    const without = await json('index', 'skip', '1', String(first));
    expect([without.status, without.error?.message]).toEqual([2, expect.stringContaining('has no index')]);
    await run('index', 'backfill', '1');
    const { status, error } = await json('index', 'skip', '1', String(first + 1));
    expect([status, error?.message]).toEqual([2, expect.stringContaining(`goes on at block ${first + 4}`)]);
  });
});

const tables = ['index_state', 'index_blocks', 'wallet_history', 'nft_changes', 'nft_holdings', 'nft_tokens'];
const rowsOf = async (db: Database, chainId: string) => {
  const counts = await Promise.all(
    [...tables, 'token_contracts', 'index_skipped_logs'].map((table) =>
      db(table).where('chain_id', chainId).count('* as count').first(),
    ),
  );
  return counts.reduce((sum, row) => sum + Number(row?.['count']), 0);
};

describe('index tokens refresh', () => {
  test('has the texts of one contract or of all read again', async ({ db, run, json }) => {
    await run('index', 'backfill', '1');
    const read = { read_at: new Date(), read_tries: 1 };
    await db('token_contracts')
      .where({ chain_id: '1' })
      .update({ ...read, name: 'Old' });
    const unread = () => db('token_contracts').where({ chain_id: '1', read_at: null, read_tries: 0 }).count();
    const { contract } = await db('token_contracts').where({ chain_id: '1' }).first();
    const one = await json('index', 'tokens', 'refresh', '1', `0x${contract.toString('hex')}`);
    expect(one.value).toEqual({ chainId: '1', contracts: 1 });
    expect(await unread()).toEqual([{ count: '1' }]);
    const all = await json('index', 'tokens', 'refresh', '1');
    expect(await unread()).toEqual([{ count: String(all.value.contracts) }]);
    expect(all.value.contracts).toBeGreaterThan(10);
    // Until they are read, the known texts stay.
    expect(await db('token_contracts').where({ chain_id: '1', name: null }).count()).toEqual([
      { count: '0' },
    ]);
    expect(await db('audit_log').orderBy('id', 'desc').first()).toMatchObject({
      action: 'index.tokens_refresh',
      subject: '1 all',
    });
    const unknown = await run('index', 'tokens', 'refresh', '1', `0x${'ee'.repeat(20)}`);
    expect([unknown.status, unknown.err]).toEqual([2, expect.stringContaining('does not know')]);
    await run('index', 'reset', '1', '--yes');
  });
});

describe('the index of a network that changes or goes', () => {
  test('is deleted by index reset, and no other', async ({ db, run, json }) => {
    await run('index', 'backfill', '1');
    await db('index_state').insert({ chain_id: '2', start_block: 0 });
    const { status, value } = await json('index', 'reset', '1', '--yes');
    expect({ status, value }).toMatchObject({ status: 0, value: { chainId: '1' } });
    expect(value.historyRows).toBeGreaterThan(1_000);
    expect(await rowsOf(db, '1')).toBe(0);
    expect(await rowsOf(db, '2')).toBe(1);
    expect((await json('index', 'status')).value).toMatchObject([
      { chainId: '1', state: 'not begun' },
      { chainId: '2', state: 'left over: no such network' },
    ]);
    await run('index', 'reset', '2', '--yes');
  });

  test('is deleted by ranges, so that no statement takes as long as a table of billions of rows', async ({
    db,
    run,
    json,
  }) => {
    await run('index', 'backfill', '1');
    const rows = { chain_id: '1', standard: 721 };
    // The ends of ranges, of which each has its row.
    const bounds = ['00', '0f', '10', 'ef', 'f0', 'ff'];
    await db('nft_tokens').insert(
      bounds.map((byte) => ({ ...rows, contract: Buffer.from(byte.repeat(20), 'hex'), token_id: 1 })),
    );
    await db.raw(`
      CREATE TABLE deleted_at_once (rows bigint);
      CREATE FUNCTION note_deleted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        INSERT INTO deleted_at_once SELECT count(*) FROM gone;
        RETURN NULL;
      END $$;
      CREATE TRIGGER noted AFTER DELETE ON wallet_history REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION note_deleted()`);
    onTestFinished(async () => {
      await db.raw('DROP FUNCTION note_deleted CASCADE');
      await db.schema.dropTable('deleted_at_once');
    });
    const { value } = await json('index', 'reset', '1', '--yes');
    const most = (await db('deleted_at_once').max('rows as most').first())?.['most'];
    expect(Number(most)).toBeLessThan(value.historyRows / 2);
    expect(await rowsOf(db, '1')).toBe(0);
  });

  test('goes with the network, once its indexer has let go', async ({ db, run, json }) => {
    await run('index', 'backfill', '1');
    const lease = await holdLease(db);
    const removed = json('network', 'remove', '1');
    await expect.poll(() => db('networks').select()).toEqual([]);
    expect(await rowsOf(db, '1')).toBeGreaterThan(1_000);
    await lease.release();
    expect(await removed).toMatchObject({ status: 0, value: { chainId: '1', removed: true } });
    expect(await rowsOf(db, '1')).toBe(0);
  });

  test('goes when the network is removed again, where an earlier run ended in between', async ({
    db,
    json,
    run,
  }) => {
    await run('index', 'backfill', '1');
    // As a run that was ended by its first Ctrl-C, or killed, leaves it.
    await db('networks').delete();
    expect(await json('network', 'remove', '1')).toMatchObject({
      status: 0,
      value: { chainId: '1', removed: true },
    });
    expect(await rowsOf(db, '1')).toBe(0);
    const [last] = await db('audit_log').orderBy('id', 'desc').limit(1);
    expect(last).toMatchObject({ action: 'index.reset', subject: '1' });
    for (const unknown of ['1', 'x']) expect((await json('network', 'remove', unknown)).status).toBe(2);
  });

  test('stays when another data provider takes over, and the operator is told', async ({ run, json }) => {
    await run('index', 'backfill', '1');
    const { notes } = await json('network', 'update', '1', '--provider', 'moralis');
    expect(notes).toEqual([expect.stringContaining('To delete it: tallystick index reset 1')]);
    expect((await json('index', 'status', '1')).value.state).toBe('kept: the provider is moralis');
    expect((await json('network', 'update', '1', '--provider', 'indexer')).notes).toEqual([]);
  });

  test('does not begin at another block afterwards', async ({ run, json }) => {
    await run('index', 'backfill', '1');
    const { status, error } = await json('network', 'update', '1', '--index-from', '5');
    expect(status).toBe(2);
    expect(error?.message).toContain(`began at block ${first}: --index-from has no effect any more.`);
    expect((await json('network', 'update', '1', '--index-from', String(first))).status).toBe(0);
    await run('index', 'reset', '1', '--yes');
    expect((await json('network', 'update', '1', '--index-from', '5')).status).toBe(0);
  });
});
