import { rename, writeFile } from 'node:fs/promises';
import { Wallet } from 'ethers';
import { describe, expect, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startService } from '../../src/service/service.ts';
import { addNetwork } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';
import { keystoreSettings } from '../support/keystore-settings.ts';
import { processSettings } from '../support/process.ts';

type Line = { readonly level: string; readonly signer?: string; readonly msg: string };

/** Starts a worker in this process. @returns its lines about signers, and its readiness for operators */
async function startWorker(databaseUrl: string, settings: Readonly<Record<string, string>>) {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const config = loadConfig({
    ...processSettings(databaseUrl),
    ROLES: 'worker',
    OPERATIONS_PORT: '0',
    ...settings,
  });
  const service = await startService(config, createLogger({ level: 'info', destination }));
  onTestFinished(() => service.stop());
  return {
    told: () => lines.filter(({ msg }) => msg.includes('MINT_SIGNERS')).map(({ msg }) => msg),
    ready: async () => {
      const answer = await fetch(`http://127.0.0.1:${service.operationsPort}/readyz`);
      const { checks }: { checks: Record<string, string> } = JSON.parse(await answer.text());
      return [answer.status, checks['minting']];
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
    expect(await worker.ready()).toEqual([200, 'ok']);
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
    expect(await worker.ready()).toEqual([503, 'failing']);
  });
});
