import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SigningKey, Transaction, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openKmsKey, readSignature } from '../../src/chain/minting/kms-signer.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const arn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const wallet = new Wallet('0x4646464646464646464646464646464646464646464646464646464646464646');
const key = new SigningKey(wallet.privateKey);

// A public key as KMS gives it (RFC 5480): the header that every secp256k1 key has, then the point.
const spkiHeader = '3056301006072a8648ce3d020106052b8104000a034200';
const spki = Buffer.from(spkiHeader + key.publicKey.slice(2), 'hex');

const integer = (value: bigint) => {
  const hex = value.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  const bytes = Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex');
  return Buffer.concat([Buffer.from([0x02, bytes.length]), bytes]);
};
const der = (r: bigint, s: bigint) => {
  const body = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
};

/** The answers of KMS in its own form, from a key whose every other signature has the high s. */
type Asked = { readonly target: string; readonly body: Record<string, string> };
const asked: Asked[] = [];
let publicKey = spki;
let high = true;
let isSilent = false;
const server = createServer(async (request, response) => {
  const body = JSON.parse(await text(request));
  const target = String(request.headers['x-amz-target']);
  asked.push({ target, body });
  if (isSilent) return;
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  if (target === 'TrentService.GetPublicKey') {
    const about = {
      KeyId: arn,
      KeySpec: 'ECC_SECG_P256K1',
      KeyUsage: 'SIGN_VERIFY',
      SigningAlgorithms: ['ECDSA_SHA_256'],
    };
    response.end(JSON.stringify({ ...about, PublicKey: publicKey.toString('base64') }));
    return;
  }
  const { r, s } = key.sign(`0x${Buffer.from(body.Message, 'base64').toString('hex')}`);
  const signature = der(BigInt(r), high ? order - BigInt(s) : BigInt(s));
  high = !high;
  response.end(
    JSON.stringify({
      KeyId: arn,
      Signature: signature.toString('base64'),
      SigningAlgorithm: 'ECDSA_SHA_256',
    }),
  );
});
let endpoint: string;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
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
    expect(asked.at(-1)).toMatchObject({
      target: 'TrentService.Sign',
      body: { KeyId: arn, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' },
    });
  });

  test('of another curve is refused by name', async () => {
    publicKey = Buffer.from(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' }),
    );
    await expect(openKmsKey(arn, { endpoint })).rejects.toThrow(
      `${arn} cannot be used: it is of the curve P-256`,
    );
    publicKey = spki;
  });

  test('that takes connections and never answers fails in time, at the start and when it signs', async () => {
    const signer = await openKmsKey(arn, { endpoint, timeoutMs: 100 });
    isSilent = true;
    await expect(signer.sign({ ...transaction, nonce: 1n })).rejects.toThrow(/timeout|timed out/i);
    await expect(openKmsKey(arn, { endpoint, timeoutMs: 100 })).rejects.toThrow(
      /cannot be used: .*(timeout|timed out)/i,
    );
    isSilent = false;
    expect((await signer.sign({ ...transaction, nonce: 1n })).raw).toMatch(/^0x/);
  });

  test('of another address is noticed', async () => {
    publicKey = Buffer.from(spkiHeader + Wallet.createRandom().signingKey.publicKey.slice(2), 'hex');
    const signer = await openKmsKey(arn, { endpoint });
    await expect(signer.sign({ ...transaction, nonce: 1n })).rejects.toThrow(/is not of 0x/);
    publicKey = spki;
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
