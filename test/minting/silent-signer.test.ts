import { Wallet } from 'ethers';
import { expect } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createKeySigner } from '../../src/chain/minting/key-signer.ts';
import { createStaff, type LaneSigner } from '../../src/rwa/mint-worker/staff.ts';
import { addNetwork } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

test('a key that never opens delays no other, is opened once, and is told', async ({ service, db }) => {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  let opened = 0;
  const silent = () => {
    opened += 1;
    return new Promise<never>(() => {});
  };
  const open = async () => createKeySigner(Wallet.createRandom().privateKey);
  const started = ({ chainId, signer }: LaneSigner) => ({
    chainId,
    signer: signer.address,
    notify() {},
    stop: async () => {},
    ended: Promise.resolve(),
  });
  const staff = createStaff({
    db,
    networks: service.parts.networks,
    log,
    wanted: [
      { chainId: '137', name: 'silent', open: silent },
      { chainId: '137', name: 'sound', open },
      { chainId: '138', name: 'later', open },
    ],
    start: started,
    openMs: 50,
  });
  await addNetwork(db, '137');
  void staff.fill();
  const chains = () => staff.lanes().map(({ chainId }) => chainId);
  await expect.poll(chains).toEqual(['137']);
  await addNetwork(db, '138');
  await expect
    .poll(() => {
      void staff.fill();
      return chains();
    })
    .toEqual(['137', '138']);
  expect(staff.signers()).toHaveLength(2);
  await staff.fill();
  expect(opened).toBe(1);
  expect(lines.filter((line) => line.includes('the key of silent takes over 0.05 s to open'))).toHaveLength(
    1,
  );
  await staff.stop();
  expect(staff.signers()).toEqual([]);
});
