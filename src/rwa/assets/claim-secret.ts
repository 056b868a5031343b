import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { v7 as timedUuid } from 'uuid';
import { seal, sealingKeys, unseal } from '../../base/sealing.ts';

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

// At least 128 bits are required; 24 bytes is the next size that base64 encodes without padding.
const secretBytes = 24;

/**
 * Encrypts each claim secret with AES-256-GCM. The id of the NFT is authenticated with it, so a ciphertext that is
 * moved to another row does not open.
 * @param bytes 32-byte keys by id; the first seals, all open
 */
export function createClaimSecretVault(bytes: ReadonlyMap<string, Buffer>): ClaimSecretVault {
  const keys = sealingKeys(bytes);
  const [active] = keys;
  if (active === undefined) throw new Error('The vault of claim secrets needs at least one key.');
  const [activeKeyId, activeKey] = active;
  return {
    activeKeyId,
    knows: (keyId) => keys.has(keyId),
    generate: () => randomBytes(secretBytes).toString('base64url'),
    seal: (nftId, secret) => ({ cipher: seal(activeKey, purposeOf(nftId), secret), keyId: activeKeyId }),
    open(nftId, { cipher, keyId }) {
      const key = keys.get(keyId);
      if (key === undefined) throw new Error(`The claim secret of NFT ${nftId} needs unknown key ${keyId}.`);
      try {
        return unseal(key, purposeOf(nftId), cipher);
      } catch (cause) {
        throw new Error(`The claim secret of NFT ${nftId} cannot be decrypted.`, { cause });
      }
    },
  };
}

/** A new NFT's id and its new secret, in clear and sealed for it. */
export function sealNewSecret(vault: ClaimSecretVault): {
  id: string;
  secret: string;
  sealed: SealedSecret;
} {
  // By time, so that new NFTs are next to each other in the database indexes. At random places each would write a
  // page of its own.
  const [id, secret] = [timedUuid(), vault.generate()];
  return { id, secret, sealed: vault.seal(id, secret) };
}

const form = new RegExp(`^[A-Za-z0-9_-]{${(secretBytes * 4) / 3}}$`);

/** Whether a text has the form that every secret has. */
export const isSecretForm = (text: string): boolean => form.test(text);

/** Compares in constant time: the digests have the same length, whatever the texts are. */
export function sameSecret(expected: string, given: string): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const purposeOf = (nftId: string) => `tallystick claim secret ${nftId.toLowerCase()}`;
