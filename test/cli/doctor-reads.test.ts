import { Wallet } from 'ethers';
import { describe, expect, onTestFinished } from 'vitest';
import { recordByOperator } from '../../src/cli/shared/audited.ts';
import type { Finding } from '../../src/cli/shared/finding.ts';
import { addCompany, addNetwork, addNfts, addRwa, contractAddress, vaultOf } from '../rwa/samples.ts';
import { asUser, type Login } from '../support/database.ts';
import { test } from '../support/fixtures.ts';
import { commandLine, settingsFor } from './command-line.ts';

const findingsOf = async (settings: Record<string, string>, environment = {}): Promise<Finding[]> =>
  (await commandLine(settings, { environment }).json('doctor')).value;

describe('doctor, as the user of any role', () => {
  test('only reads, and says what it could not see without SQL and without a fault', async ({
    db,
    databaseUrl,
    chain,
  }) => {
    await addNetwork(db, '31337', chain.rpcUrl);
    await db('networks').update({ minter_contract: contractAddress });
    await addCompany(db, 'acme');
    const rwa = await addRwa(db, 'acme', { isClaimable: true });
    await addNfts(db, vaultOf(['first']), rwa, 1);
    await db('mint_lanes').insert({ chain_id: 31337, signer: Wallet.createRandom().address });
    const readOnly = async (user: Login) => {
      const url = new URL(asUser(databaseUrl, user));
      url.searchParams.set('options', '-c default_transaction_read_only=on');
      return findingsOf(settingsFor(url.href));
    };
    const whole = (await readOnly('test_operator')).map(({ check, state }) => `${check}: ${state}`);
    for (const user of ['test_api', 'test_worker', 'test_indexer'] as const) {
      const found = await readOnly(user);
      expect(found.filter(({ detail }) => /permission denied|select|insert/i.test(detail))).toEqual([]);
      const unseen = found.filter(({ detail }) => detail.startsWith('not seen: '));
      expect([user, unseen.map(({ state }) => state)]).toEqual([user, unseen.map(() => 'warning')]);
      const seen = found.filter(({ detail }) => !detail.startsWith('not seen: '));
      for (const { check, state } of seen) expect(whole).toContain(`${check}: ${state}`);
    }
    expect(whole.filter((line) => line.endsWith('not seen'))).toEqual([]);
    expect(await db('contract_verdicts')).toEqual([]);
  });
});

describe('doctor, on what mint list says', () => {
  test('reports each lane that waits in its words, and signers of a network that is not registered', async ({
    db,
    databaseUrl,
  }) => {
    const paused_at = new Date('2026-11-28T10:00:00Z');
    const signer = Wallet.createRandom().address;
    await db('mint_lanes').delete();
    await db('mint_lanes').insert({ chain_id: 31337, signer, staffed_at: db.raw('clock_timestamp()') });
    await db('mint_lanes').update({ pause_reason: 'fee_above_cap', pause_detail: 'Gas is dear.', paused_at });
    const settings = {
      ...settingsFor(databaseUrl),
      MINT_SIGNERS: '137=kms:arn:aws:kms:eu-west-1:1:key/a,31337=kms:arn:aws:kms:eu-west-1:1:key/b',
    };
    const { err } = await commandLine(settings).run('mint', 'list');
    const words = err.trim().split('\n');
    expect(words).toEqual([
      expect.stringMatching(
        /^The lane of 0x\w{40} on 31337: fee_above_cap since 2026-11-28T10:00:00.000Z. Gas is dear. Wait/,
      ),
      'MINT_SIGNERS: network 137 is not registered: tallystick network add 137',
    ]);
    const found = await findingsOf(settings);
    const told = found.filter(({ check }) => ['lane 31337', 'signers'].includes(check));
    expect(told.map(({ state }) => state)).toEqual(['warning', 'warning']);
    expect(told.map(({ detail }) => detail).toSorted()).toEqual(words.toSorted());
  });

  test('is at fault where a lane with work needs somebody', async ({ db, databaseUrl }) => {
    await db('mint_lanes').update({ pause_reason: 'balance_too_low', pause_detail: null });
    await db('nfts').update({
      mint_state: 'queued',
      recipient: contractAddress,
      mint_chain_id: 31337,
      mint_contract: contractAddress,
      queued_at: new Date(),
    });
    const found = await findingsOf(settingsFor(databaseUrl));
    expect(found.filter(({ check }) => check === 'lane 31337')).toMatchObject([{ state: 'FAULT' }]);
  });
});

describe('doctor, on what customers and people meet', () => {
  test('names assets whose codes were exported while their claim page is off', async ({
    db,
    databaseUrl,
  }) => {
    const rwa = await addRwa(db, 'acme', { isClaimable: true });
    await addNfts(db, vaultOf(['first']), rwa, 1);
    const settings: Record<string, string> = { ...settingsFor(databaseUrl), CLAIM_BASE_URL: '' };
    const closed = async (more = {}) =>
      (await findingsOf({ ...settings, ...more })).filter(({ check }) => check === 'claim pages');
    expect(await closed()).toEqual([]);
    await recordByOperator(db, { action: 'rwa.export', companyId: 'acme', subject: rwa.id });
    expect(await closed()).toEqual([
      {
        check: 'claim pages',
        state: 'warning',
        detail: `RWAs whose codes were exported while their claim page is off: 1 (${rwa.id}); tallystick rwa claim-page <id> on`,
      },
    ]);
    const exported = (more = {}) => commandLine({ ...settings, ...more }).run('rwa', 'export', rwa.id);
    const off = `The claim page is off for this RWA, so nobody can claim by these codes yet. Switch it on:\ntallystick rwa claim-page ${rwa.id} on`;
    expect((await exported()).err).toContain(off);
    const elsewhere = { CLAIM_BASE_URL: 'https://claim.example' };
    expect((await exported(elsewhere)).err).not.toContain('claim page');
    expect(await closed(elsewhere)).toEqual([]);
    await db('rwas').update({ claim_page: true });
    expect(await closed()).toEqual([]);
  });

  test('names variables that look like misspelt settings, and no others', async ({ databaseUrl }) => {
    const environment = {
      PUBLIC_BASE_URLL: 'x',
      MINT_SIGNER: 'x',
      PATH: '/bin',
      HOME: '/',
      HOSTNAME: 'x',
      PORTS: '1',
    };
    const found = (await findingsOf(settingsFor(databaseUrl), environment)).filter(
      ({ check, state }) => check === 'settings' && state !== 'ok',
    );
    expect(found.map(({ state, detail }) => `${state}: ${detail}`)).toEqual([
      'warning: PUBLIC_BASE_URLL in the environment is no setting: did you mean PUBLIC_BASE_URL?',
      'warning: MINT_SIGNER in the environment is no setting: did you mean MINT_SIGNERS?',
    ]);
  });

  test('counts connections of other users too', async ({ db, databaseUrl }) => {
    const counted = async (url: string) => {
      const found = await findingsOf(settingsFor(url));
      const detail = found.find(({ check }) => check === 'connections')?.detail ?? '';
      return Number(/of which (\d+) are in use/.exec(detail)?.[1]);
    };
    const open = await Promise.all(Array.from({ length: 5 }, () => db.transaction()));
    onTestFinished(async () => {
      for (const transaction of open) await transaction.rollback();
    });
    expect(await counted(asUser(databaseUrl, 'test_operator'))).toBeGreaterThan(5);
  });
});
