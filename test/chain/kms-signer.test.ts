import { generateKeyPairSync } from 'node:crypto';
import { Transaction, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openKmsKey, readSignature } from '../../src/chain/minting/kms-signer.ts';
import { SignerUnavailableError } from '../../src/chain/minting/signer.ts';
import { kmsArn as arn, der, order, spkiOf, startKms, type TestKms } from '../support/kms.ts';

const wallet = new Wallet('0x4646464646464646464646464646464646464646464646464646464646464646');

let kms: TestKms;
let endpoint: string;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  kms = await startKms(wallet.privateKey);
  endpoint = kms.endpoint;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await kms.close();
});

const transaction = {
  chainId: '137',
  contract: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  mints: [{ recipient: wallet.address, tokenId: '1' }],
  gasLimit: 89_000n,
  fees: { maxFeePerGas: 30n, maxPriorityFeePerGas: 2n },
};

describe('a key in KMS', () => {
  test('signs what the chain takes: always the low s, always of its address', async () => {
    const signer = await openKmsKey(arn, { endpoint });
    expect(signer.address).toBe(wallet.address);
    for (let nonce = 0n; nonce < 20n; nonce += 1n) {
      const { raw, hash } = await signer.sign({ ...transaction, nonce });
      const read = Transaction.from(raw);
      expect([read.from, read.hash]).toEqual([wallet.address, hash]);
      expect(BigInt(read.signature?.s ?? 0) <= order / 2n).toBe(true);
      expect(raw).toBe(await wallet.signTransaction(Transaction.from(read.unsignedSerialized)));
    }
    expect(kms.asked.at(-1)).toMatchObject({
      target: 'TrentService.Sign',
      body: { KeyId: arn, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' },
    });
  });

  test('of another curve is refused by name', async () => {
    const own = kms.publicKey;
    kms.publicKey = Buffer.from(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' }),
    );
    await expect(openKmsKey(arn, { endpoint })).rejects.toThrow(
      `${arn} cannot be used: it is of the curve P-256`,
    );
    kms.publicKey = own;
  });

  test('that takes connections and never answers fails in time at the start', async () => {
    await kms.become('silent');
    await expect(openKmsKey(arn, { endpoint, timeoutMs: 100 })).rejects.toThrow(
      /cannot be used: .*(timeout|timed out)/i,
    );
    await kms.become('up');
  });

  test.each(['down', 'silent', 'refusing'] as const)(
    'that is %s is told apart from any other failure',
    async (state) => {
      const signer = await openKmsKey(arn, { endpoint, timeoutMs: 100 });
      await kms.become(state);
      const signing = signer.sign({ ...transaction, nonce: 1n });
      await expect(signing).rejects.toBeInstanceOf(SignerUnavailableError);
      await expect(signing).rejects.toThrow(`${wallet.address} does not sign: `);
      await kms.become('up');
      expect((await signer.sign({ ...transaction, nonce: 1n })).raw).toMatch(/^0x/);
    },
  );

  test('of another address is noticed', async () => {
    const own = kms.publicKey;
    kms.publicKey = spkiOf(Wallet.createRandom().signingKey);
    const signer = await openKmsKey(arn, { endpoint });
    await expect(signer.sign({ ...transaction, nonce: 1n })).rejects.toThrow(/is not of 0x/);
    kms.publicKey = own;
  });
});

describe('a signature in DER', () => {
  test('is read with short and long integers', () => {
    for (const [r, s] of [
      [1n, 2n],
      [order - 1n, 255n],
      [2n ** 255n, 127n],
    ] as const) {
      expect(readSignature(der(r, s))).toEqual({ r, s });
    }
  });

  test.each(['', '30', '3003020101', '300602010102010100', '310602010102010', '3006030101020101'])(
    'is refused when it is %j',
    (hex) => {
      expect(() => readSignature(Buffer.from(hex, 'hex'))).toThrow(/signature of KMS/);
    },
  );
});
