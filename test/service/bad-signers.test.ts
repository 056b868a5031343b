import { rename, writeFile } from 'node:fs/promises';
import { Wallet } from 'ethers';
import type { Knex } from 'knex';
import { describe, expect, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startService } from '../../src/service/service.ts';
import { commandLine, runDoctor, settingsFor } from '../cli/command-line.ts';
import { addCompany, addNetwork, addNft, addRwa, recipient, serviceVault } from '../rwa/samples.ts';
import { keystoreSettings } from '../support/keystore-settings.ts';
import { test } from '../support/mint-fixtures.ts';
import { processSettings } from '../support/process.ts';

type Line = { readonly level: string; readonly signer?: string; readonly msg: string };

/** Starts a worker in this process. @returns its lines about signers, and its readiness for operators */
async function startWorker(databaseUrl: string, settings: Readonly<Record<string, string>>) {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const whole = { ...processSettings(databaseUrl), ROLES: 'worker', OPERATIONS_PORT: '0', ...settings };
  const config = loadConfig(whole, { mintPollMs: 50 });
  const service = await startService(config, createLogger({ level: 'info', destination }));
  onTestFinished(() => service.stop());
  return {
    told: () => lines.filter(({ msg }) => msg.includes('MINT_SIGNERS')).map(({ msg }) => msg),
    ready: async () => {
      const answer = await fetch(`http://127.0.0.1:${service.operationsPort}/readyz`);
      const { checks }: { checks: Record<string, string> } = JSON.parse(await answer.text());
      return [answer.status, checks['minting'], checks['networks']];
    },
  };
}

describe('an entry of MINT_SIGNERS that cannot be used', () => {
  test('stops only itself, is logged once in words, and starts when its network is added', async ({
    db,
    chain,
    databaseUrl,
  }) => {
    await addNetwork(db, '31337', chain.rpcUrl);
    const good = Wallet.createRandom();
    const other = Wallet.createRandom();
    const { MINT_SIGNERS, ...password } = await keystoreSettings('31337', good.privateKey, other.privateKey);
    const [sound = '', spare = ''] = MINT_SIGNERS?.split(',') ?? [];
    const place = spare.replace('31337=keystore:', '');
    await writeFile(`${place}.broken`, '{}');
    const worker = await startWorker(databaseUrl, {
      ...password,
      MINT_SIGNERS: [
        spare.replace('31337=', '137='),
        '31337=keystore:/nowhere/keystore.json',
        `${spare}.broken`,
        sound,
      ].join(','),
    });
    const lanes = () => db('mint_lanes').orderBy('chain_id').pluck('signer');
    expect(await lanes()).toEqual([good.address]);
    expect(await worker.ready()).toEqual([200, 'ok', 'ok']);
    const end = 'Its lane starts without a restart once that is fixed';
    const notRegistered = `MINT_SIGNERS: network 137 is not registered: tallystick network add 137. ${end}`;
    expect(worker.told().toSorted()).toEqual([
      `MINT_SIGNERS: /nowhere/keystore.json cannot be read (ENOENT). ${end}`,
      `MINT_SIGNERS: The keystore ${place}.broken cannot be opened with the password in ${password['MINT_KEYSTORE_PASSWORD_FILE']}. ${end}`,
      notRegistered,
    ]);

    // Each change of a network lets the worker try again, and so does a repair of the file with the next one.
    await rename(place, `${place}.moved`);
    await addNetwork(db, '137', chain.rpcUrl);
    await expect
      .poll(() => worker.told().at(-1))
      .toBe(`MINT_SIGNERS: ${place} cannot be read (ENOENT). ${end}`);
    await rename(`${place}.moved`, place);
    await db('networks').update({ name: 'Other' });
    await expect.poll(lanes).toEqual([other.address, good.address]);
    expect(worker.told().filter((line) => line === notRegistered)).toHaveLength(1);
  });

  test('makes a worker without any other lane not ready, and does not end it', async ({ databaseUrl }) => {
    const worker = await startWorker(databaseUrl, {
      MINT_SIGNERS: '8453=keystore:/nowhere/keystore.json',
      MINT_KEYSTORE_PASSWORD_FILE: '/nowhere/password',
    });
    expect((await worker.ready()).slice(0, 2)).toEqual([503, 'failing']);
  });
});

/** Queues an NFT of an RWA of its own, as an accepted request leaves it. @returns its id */
async function queueNft(db: Knex, chainId: number, contractAddress: string): Promise<string> {
  const rwa = await addRwa(db, await addCompany(db, 'acme'), { chainId, contractAddress });
  const { id } = await addNft(db, serviceVault, rwa);
  const queued = { mint_state: 'queued', recipient, mint_chain_id: chainId, queued_at: db.fn.now() };
  await db('nfts').where({ id }).update(queued);
  return id;
}

describe('a network without a reachable node, and a contract that is gone', () => {
  test('stop only themselves, and `doctor` and `mint list` say what to do about each', async ({
    db,
    mintChain,
    databaseUrl,
  }) => {
    const { contract, rpcUrl, keys } = mintChain;
    const [key = ''] = keys;
    const { address } = new Wallet(key);
    // Another chain than that of the tests before.
    await db.raw('TRUNCATE companies, networks, mint_lanes, mint_contracts CASCADE');
    const unreachable = 'http://127.0.0.1:1';
    await addNetwork(db, '31337', rpcUrl);
    await db('networks').update({ minter_contract: contract });
    await addNetwork(db, '8453', unreachable);
    // No code is there, as after a restore of the chain or a wrong address.
    const gone = '0x00000000000000000000000000000000000000A2';
    // The bad ones wait longest.
    const lost = await queueNft(db, 31337, gone);
    const dark = await queueNft(db, 8453, contract);
    const sound = await queueNft(db, 31337, contract);
    const { MINT_SIGNERS = '', ...password } = await keystoreSettings('31337', key);
    const signers = [MINT_SIGNERS.replace('31337=', '8453='), MINT_SIGNERS].join(',');
    const settings = { ...password, MINT_SIGNERS: signers, RPC_TIMEOUT_MS: '2000' };
    const worker = await startWorker(databaseUrl, settings);
    const mining = setInterval(() => void mintChain.mine(), 100);
    onTestFinished(() => clearInterval(mining));

    const stateOf = async (id: string) => (await db('nfts').where({ id }).first('mint_state'))?.mint_state;
    await expect.poll(() => stateOf(sound)).toBe('minted');
    expect([await stateOf(lost), await stateOf(dark)]).toEqual(['queued', 'queued']);
    // It names what fails, and stays ready, since the other lane works.
    expect(await worker.ready()).toEqual([200, 'failing', 'failing']);

    const operator = { ...settingsFor(databaseUrl), ...settings };
    const listed = async () => {
      const { value, notes } = await commandLine(operator).json('mint', 'list');
      const rows: { nftId: string; reason: string; remedy: string }[] = value;
      return {
        notes,
        rows: rows.map(({ nftId, reason, remedy }) => [nftId, reason, remedy]),
      };
    };
    await expect
      .poll(async () => (await listed()).rows)
      .toEqual([
        [lost, 'contract_refuses', expect.stringContaining('tallystick mint resume --contract <address>')],
        [
          dark,
          'nodes_unavailable',
          'Fix the nodes, or name others: tallystick network update <chainId> --rpc <url>.',
        ],
      ]);
    const lane = new RegExp(
      `^The lane of ${address} on 8453: nodes_unavailable since .* Fix the nodes, or name`,
    );
    expect((await listed()).notes).toContainEqual(expect.stringMatching(lane));

    const { status, of } = await runDoctor(operator);
    expect(status).toBe(1);
    expect(of('lane 8453')).toEqual([
      { check: 'lane 8453', state: 'FAULT', detail: expect.stringMatching(lane) },
    ]);
    expect(of('lane 31337')).toEqual([]);
    expect(of('network 8453')).toMatchObject([
      { state: 'FAULT', detail: expect.stringContaining(unreachable) },
    ]);
    expect(of('contracts 31337')).toMatchObject([
      { state: 'ok', detail: 'in order: 1' },
      { state: 'FAULT', detail: expect.stringContaining(`${gone}, of RWA `) },
    ]);
  });
});
