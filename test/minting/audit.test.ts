import { describe, expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMintNode } from '../../src/chain/minting/mint-node.ts';
import { createAudit } from '../../src/rwa/mint-worker/audit/audit.ts';
import { watchDisagreements } from '../../src/rwa/mint-worker/mint-levels.ts';
import { addRwa } from '../rwa/samples.ts';
import { perFile } from '../support/fixtures.ts';
import { test as base } from '../support/mint-fixtures.ts';
import { startWorker, untilAll } from '../support/minting.ts';

const test = base.extend(
  'minted',
  perFile,
  async ({ mintChain: chain, mintService: service }, { onCleanup }) => {
    const worker = await startWorker(service, chain);
    onCleanup(() => worker.stop());
    watchDisagreements(service.parts.metrics, service);
    const rwa = await addRwa(service.db, service.companies.acme, {
      isClaimable: true,
      contractAddress: chain.contract,
    });
    /** Mints NFTs, until that is final. */
    const mint = async (count: number): Promise<string[]> => {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const { body } = await service
          .as(service.keys.acme)
          .post(`/v1/api/rwa/${rwa.id}/mint`)
          .send({})
          .expect(200);
        ids.push(body.nftId);
      }
      const mining = setInterval(() => void chain.mine().catch(() => {}), 100);
      await untilAll(service, ids, 'minted');
      clearInterval(mining);
      await chain.mine(5);
      return ids;
    };
    const lines: { msg: string; kind?: string }[] = [];
    const log = createLogger({
      level: 'error',
      destination: { write: (line) => lines.push(JSON.parse(line)) },
    });
    const { db, parts } = service;
    const audit = createAudit({
      db,
      log,
      networks: parts.networks,
      restSeconds: 0,
      nodeOf: async (network) => {
        const pinned = await parts.clients.pool(network).pin({ ...network, known: undefined });
        return createMintNode(pinned.provider, pinned);
      },
    });
    const level = async () => {
      const { text } = await parts.metrics.scrape();
      return /^tallystick_mint_disagreements\{chain_id="31337"\} (\d+)$/m.exec(text)?.[1];
    };
    return { chain, service, audit, level, lines, mint };
  },
);

describe('the audit', () => {
  test('finds nothing where all is well, and goes on where it was', async ({ minted }) => {
    const { audit, level, lines, mint, service } = minted;
    await mint(2);
    await audit.turn();
    const { compared_to: first } = await service.db('mint_contracts').first();
    await mint(1);
    await audit.turn();
    const { compared_to: second } = await service.db('mint_contracts').first();
    expect(Number(second)).toBeGreaterThan(Number(first));
    expect(await level()).toBe('0');
    expect(lines).toEqual([]);
  });

  test('takes a mint of ours for ours when the clock of the database stepped by an hour', async ({
    minted,
  }) => {
    const { audit, level, lines, mint, service } = minted;
    const [id] = await mint(1);
    const created_at = new Date(Date.now() + 3_600_000);
    await service.db('nfts').where({ id }).update({ created_at });
    await audit.turn();
    expect(await level()).toBe('0');
    expect(lines).toEqual([]);
    expect(await service.db('mint_recoveries')).toEqual([]);
  });

  test('raises the alarm for a row that lies, and logs it once', async ({ minted }) => {
    const { audit, level, lines, mint, service } = minted;
    const [id] = await mint(1);
    await service
      .db('nfts')
      .where({ id })
      .update({ minted_tx: `0x${'12'.repeat(32)}` });
    await audit.turn();
    expect(await level()).toBe('1');
    await service.db('mint_contracts').update({ compared_to: null });
    await audit.turn();
    expect(await level()).toBe('1');
    expect(lines.map(({ kind }) => kind)).toEqual(['other_transaction']);
    expect(await service.db('mint_recoveries')).toEqual([]);
  });

  test('lets minting wait when a signer of ours has minted what no row knows', async ({ minted }) => {
    const { audit, chain, service } = minted;
    const { number } = await service.db('rwas').first('number');
    await service
      .db('mint_lanes')
      .insert({ chain_id: 31337, signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' });
    await chain.mintByHand(
      '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      ((BigInt(number) << 64n) + 99n).toString(),
    );
    await chain.mine(5);
    await audit.turn();
    expect(await service.db('mint_recoveries')).toMatchObject([{ reason: 'recovery_needed' }]);
  });

  test('names another installation that mints with the same signer', async ({ minted }) => {
    const { audit, chain, lines, service } = minted;
    const signer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    await service.db('mint_lanes').insert({ chain_id: 31337, signer }).onConflict().ignore();
    await service.db('mint_recoveries').delete();
    // What the test before has left.
    await service
      .db('mint_contracts')
      .update({ compared_to: Number(await chain.call<string>('eth_blockNumber')) });
    await service.db('mint_transactions').insert({
      chain_id: 31337,
      signer,
      nonce: 1_000_000,
      contract: chain.contract,
      gas_limit: 1,
      state: 'lost',
      fence: 1,
    });
    const number = 1n << 61n;
    await chain.mintByHand('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC', ((number << 64n) + 99n).toString());
    await chain.mine(5);
    await audit.turn();
    expect(lines.at(-1)).toMatchObject({ kind: 'unknown_asset' });
    const [{ detail }] = await service.db('mint_recoveries');
    expect(detail).toContain(`Another installation mints with ${signer}`);
  });
});
