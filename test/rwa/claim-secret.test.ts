import { randomBytes, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createClaimSecretVault, sameSecret } from '../../src/rwa/assets/claim-secret.ts';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const oldVault = createClaimSecretVault(new Map([['old', older]]));
const vault = createClaimSecretVault(
  new Map([
    ['new', newer],
    ['old', older],
  ]),
);
const nftId = randomUUID();

function faultOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing failed');
}

describe('a claim secret', () => {
  test('has at least 128 random bits in URL-safe text, and never repeats', () => {
    const secrets = Array.from({ length: 1_000 }, () => vault.generate());
    for (const secret of secrets) {
      expect(secret).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(Buffer.from(secret, 'base64url').length * 8).toBeGreaterThanOrEqual(128);
    }
    expect(new Set(secrets).size).toBe(1_000);
  });

  test('is compared whatever the length of the other text', () => {
    const secret = vault.generate();
    expect(sameSecret(secret, secret)).toBe(true);
    for (const other of ['', 'x', `${secret}x`, secret.slice(1), secret.toLowerCase()]) {
      expect(sameSecret(secret, other)).toBe(false);
    }
  });
});

describe('the vault', () => {
  test('seals with its first key under a nonce of its own each time, and opens again', () => {
    const [one, two] = [vault.seal(nftId, 'secret'), vault.seal(nftId, 'secret')];
    expect(one.keyId).toBe('new');
    expect(one.cipher.equals(two.cipher)).toBe(false);
    expect(one.cipher.subarray(0, 12).equals(two.cipher.subarray(0, 12))).toBe(false);
    expect(one.cipher.includes('secret')).toBe(false);
    expect(vault.open(nftId, one)).toBe('secret');
  });

  test('opens what any of its keys sealed', () => {
    expect(vault.open(nftId, oldVault.seal(nftId, 'secret'))).toBe('secret');
  });

  test('does not open a secret that was moved to another NFT', () => {
    expect(() => vault.open(randomUUID(), vault.seal(nftId, 'secret'))).toThrow('cannot be decrypted');
  });

  test('opens nothing of which one bit is changed or bytes are missing', () => {
    const { cipher, keyId } = vault.seal(nftId, 'secret');
    for (let at = 0; at < cipher.length; at += 1) {
      const altered = Buffer.from(cipher);
      altered.writeUInt8(altered.readUInt8(at) ^ 1, at);
      expect(() => vault.open(nftId, { cipher: altered, keyId })).toThrow('cannot be decrypted');
      expect(() => vault.open(nftId, { cipher: cipher.subarray(0, at), keyId })).toThrow(
        'cannot be decrypted',
      );
    }
  });

  test('does not open under another key, and says which key it lacks', () => {
    const sealed = vault.seal(nftId, 'secret');
    expect(() => vault.open(nftId, { ...sealed, keyId: 'old' })).toThrow('cannot be decrypted');
    expect(() => oldVault.open(nftId, sealed)).toThrow(`NFT ${nftId} needs unknown key new`);
  });

  test('says nothing of the secret in its errors', () => {
    const sealed = vault.seal(nftId, 'a-secret-text');
    const fault = faultOf(() => vault.open(randomUUID(), sealed));
    expect(fault.cause).toBeInstanceOf(Error);
    expect(inspect(fault)).not.toContain('a-secret-text');
  });

  test('needs a key', () => {
    expect(() => createClaimSecretVault(new Map())).toThrow('at least one key');
  });
});
