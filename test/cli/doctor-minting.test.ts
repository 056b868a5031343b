import { Wallet } from 'ethers';
import { describe, expect } from 'vitest';
import { addNetwork } from '../rwa/samples.ts';
import { perFile } from '../support/fixtures.ts';
import { test as base } from '../support/mint-fixtures.ts';
import { commandLine, runDoctor, settingsFor } from './command-line.ts';

const test = base.extend('settings', perFile, ({ databaseUrl }) => settingsFor(databaseUrl));

const found = async (settings: Record<string, string>, check: string) =>
  (await runDoctor(settings)).of(check);

describe('doctor, on a network that mints', () => {
  test('says what is missing: signer, contract, role, funds', async ({ db, mintChain, settings }) => {
    await addNetwork(db, '31337', mintChain.rpcUrl);
    const bare = '0x00000000000000000000000000000000000000A2';
    await db('networks').update({ minter_contract: bare });
    const first = await runDoctor(settings);
    expect([first.status, first.of('minting 31337')]).toMatchObject([
      1,
      [
        {
          state: 'FAULT',
          detail: expect.stringMatching(/these settings name no signer, .*: set MINT_SIGNERS$/),
        },
        { state: 'FAULT', detail: `There is no contract at ${bare}.` },
      ],
    ]);
    const MINT_SIGNERS = '31337=kms:arn:aws:kms:eu-west-1:1:key/one';
    expect((await found({ ...settings, MINT_SIGNERS }, 'minting 31337'))[0]).toEqual({
      check: 'minting 31337',
      state: 'warning',
      detail: expect.stringMatching(
        /^no worker has had the signer .*: start one with ROLES=worker, or read in the log/,
      ),
    });
    // What `npm start` made has its signer from there.
    const { value: local } = await commandLine(settings).json('doctor', '--local');
    expect(JSON.stringify(local)).not.toContain('MINT_SIGNERS');
    const stranger = Wallet.createRandom().address;
    await db('networks').update({ minter_contract: mintChain.contract });
    await db('mint_lanes').insert({ chain_id: 31337, signer: stranger });
    const faults = (await found(settings, 'minting 31337')).filter(({ state }) => state === 'FAULT');
    expect(faults.map(({ detail }) => detail)).toEqual([
      'Its mintBatch(address[],uint256[]) is refused.',
      `${stranger} has no funds: send it ETH`,
    ]);
    await db('mint_lanes').update({ signer: new Wallet(mintChain.keys[0] ?? '').address });
    const sound = await found(settings, 'minting 31337');
    expect(sound.map(({ state }) => state)).toEqual(['ok', 'ok']);
    expect(sound[1]?.detail).toMatch(/^0x\w{40} has funds; its next nonce is \d+$/);
    const signer = new Wallet(mintChain.keys[0] ?? '').address;
    await mintChain.call('anvil_setBalance', signer, '0x5af3107a4000'); // 0.0001
    const [, poor] = await found(settings, 'minting 31337');
    expect(poor).toMatchObject({
      state: 'FAULT',
      detail: expect.stringMatching(
        /^0x\w{40} has 0\.0001 ETH, and a mint needs 0\.000\d+ ETH at present: send it ETH$/,
      ),
    });
    await mintChain.call('anvil_setBalance', signer, '0xde0b6b3a7640000');
  });

  test('warns of base addresses that only this machine reaches', async ({ settings }) => {
    const loopback = { PUBLIC_BASE_URL: 'http://127.0.0.1:3000', CLAIM_BASE_URL: 'http://localhost/claim' };
    const local = await found({ ...settings, ...loopback }, 'base addresses');
    expect(local.map(({ detail }) => detail.split(' ')[0])).toEqual(['PUBLIC_BASE_URL', 'CLAIM_BASE_URL']);
    const open = { PUBLIC_BASE_URL: 'https://api.example', CLAIM_BASE_URL: 'https://claim.example' };
    expect(await found({ ...settings, ...open }, 'base addresses')).toEqual([]);
  });
});

describe('doctor, on where the metadata of a contract are', () => {
  test('compares what the contract says with PUBLIC_BASE_URL, and names what leads to this machine only', async ({
    db,
    mintChain,
    settings,
  }) => {
    const { contract } = mintChain;
    await db('networks').delete();
    await addNetwork(db, '137', mintChain.rpcUrl);
    await addNetwork(db, '31337', mintChain.rpcUrl);
    await db('networks').update({ minter_contract: contract });
    const open = { ...settings, PUBLIC_BASE_URL: 'https://api.example' };
    const own = `https://api.example/v1/api/metadata/31337/${contract}/`;
    const metadata = async () => (await found(open, 'metadata 31337'))[0];
    const remedy = `tallystick contract set-base-uri 31337 ${contract}`;
    expect(await metadata()).toMatchObject({
      state: 'FAULT',
      detail: `tokens of ${contract} name no metadata: ${remedy}`,
    });
    await mintChain.admin('setBaseURI', own);
    expect(await metadata()).toMatchObject({ state: 'ok', detail: `${contract} names ${own}` });
    // Below 32 bytes Solidity keeps a text in another way.
    for (const other of ['https://old.example/', `https://old.example/${'a'.repeat(90)}/`]) {
      await mintChain.admin('setBaseURI', other);
      expect(await metadata()).toMatchObject({
        state: 'warning',
        detail: `${contract} names ${other}, and PUBLIC_BASE_URL gives ${own}: fix PUBLIC_BASE_URL, or ${remedy}`,
      });
    }
    // The node serves another chain than 137, but what it says of the contract is asked of the local one.
    await mintChain.admin('setBaseURI', 'http://localhost:3000/v1/api/metadata/1/2/');
    expect((await metadata())?.detail).toContain('names http://localhost:3000');
  });
});

describe('contract deploy and set-base-uri', () => {
  test('refuse an address that only this machine reaches, on any network but the local one', async ({
    db,
    mintChain,
    settings,
  }) => {
    await addNetwork(db, '137', mintChain.rpcUrl);
    const keys = ['--keystore', '/nowhere', '--password-file', '/nowhere'];
    for (const args of [
      ['deploy', '137', '--name', 'A', '--symbol', 'A'],
      ['set-base-uri', '137', mintChain.contract],
    ]) {
      const { status, err } = await commandLine(settings).run('contract', ...args, ...keys);
      expect([status, err]).toEqual([2, expect.stringContaining('Set PUBLIC_BASE_URL')]);
      const open = { ...settings, PUBLIC_BASE_URL: 'https://api.example' };
      expect((await commandLine(open).run('contract', ...args, ...keys)).err).toContain('/nowhere');
    }
  });
});
