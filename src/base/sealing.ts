import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Keys to seal and unseal with, made once: with the bytes themselves each use takes three times as long.
 * @param bytes 32 for each id
 */
export const sealingKeys = (bytes: ReadonlyMap<string, Buffer>): ReadonlyMap<string, KeyObject> =>
  new Map([...bytes].map(([id, key]) => [id, createSecretKey(key)]));

/**
 * Seals a text with AES-256-GCM. A random nonce is safe for 2^32 texts a key (NIST SP 800-38D, 8.3).
 * @param purpose what the text is and belongs to; it opens for nothing else
 * @returns nonce (12 bytes), ciphertext, authentication tag (16 bytes)
 */
export function seal(key: KeyObject, purpose: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what {@link seal} made. @throws Error when the key or the purpose is another, or the bytes were altered */
export function unseal(key: KeyObject, purpose: string, sealed: Buffer): string {
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(purpose));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
