import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto';

/** A claim secret as the database stores it: useless without the key that `keyId` names. */
export type SealedSecret = {
  /** Nonce (12 bytes), ciphertext, authentication tag (16 bytes). */
  readonly cipher: Buffer;
  readonly keyId: string;
};

export type ClaimSecretVault = {
  /** The key that new secrets are sealed with. */
  readonly activeKeyId: string;
  knows(keyId: string): boolean;
  /** A new secret: 192 random bits as 32 URL-safe characters. */
  generate(): string;
  seal(nftId: string, secret: string): SealedSecret;
  /** @throws Error when the key is unknown, or when the bytes were altered or sealed for another NFT */
  open(nftId: string, sealed: SealedSecret): string;
};

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
// At least 128 bits are required; 24 bytes is the next size that base64 encodes without padding.
const secretBytes = 24;

/**
 * Encrypts each claim secret with AES-256-GCM. The id of the NFT is authenticated with it, so a ciphertext that is
 * moved to another row does not open. A random nonce is safe for 2^32 secrets a key
 * (NIST SP 800-38D, 8.3).
 * @param keys 32-byte keys by id; the first seals, all open
 */
export function createClaimSecretVault(keys: ReadonlyMap<string, Buffer>): ClaimSecretVault {
  const [active] = keys;
  if (active === undefined) throw new Error('The vault of claim secrets needs at least one key.');
  const [activeKeyId, activeKey] = active;
  return {
    activeKeyId,
    knows: (keyId) => keys.has(keyId),
    generate: () => randomBytes(secretBytes).toString('base64url'),
    seal: (nftId, secret) => ({ cipher: encrypt(activeKey, nftId, secret), keyId: activeKeyId }),
    open(nftId, { cipher, keyId }) {
      const key = keys.get(keyId);
      if (key === undefined) throw new Error(`The claim secret of NFT ${nftId} needs unknown key ${keyId}.`);
      try {
        return decrypt(key, nftId, cipher);
      } catch (cause) {
        throw new Error(`The claim secret of NFT ${nftId} cannot be decrypted.`, { cause });
      }
    },
  };
}

/** A new NFT's id and, sealed for it, its new secret. */
export function sealNewSecret(vault: ClaimSecretVault): { id: string; sealed: SealedSecret } {
  const id = randomUUID();
  return { id, sealed: vault.seal(id, vault.generate()) };
}

/** Compares in constant time: the digests have the same length, whatever the texts are. */
export function sameSecret(expected: string, given: string): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const boundTo = (nftId: string) => Buffer.from(`tallystick claim secret ${nftId.toLowerCase()}`);

function encrypt(key: Buffer, nftId: string, secret: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(boundTo(nftId));
  return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, nftId: string, sealed: Buffer): string {
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(boundTo(nftId));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
