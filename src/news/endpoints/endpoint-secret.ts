import { randomBytes } from 'node:crypto';
import { seal, sealingKeys, unseal } from '../../base/sealing.ts';

/** Seals the secrets that sign deliveries. */
export type EndpointSecrets = {
  /** The key that seals. */
  readonly activeKeyId: string;
  knows(keyId: string): boolean;
  /** A new secret in the form of Standard Webhooks: 192 random bits. */
  generate(): string;
  /** Seals a secret for an endpoint, as `key id:base64`. */
  seal(endpointId: string, secret: string): string;
  /** @throws Error when the key is unknown, or when the text was altered or sealed for another endpoint */
  open(endpointId: string, sealed: string): string;
};

const purposeOf = (endpointId: string) => `tallystick endpoint secret ${endpointId}`;

/** @param bytes those of SECRET_KEYS; the first seals, all open */
export function createEndpointSecrets(bytes: ReadonlyMap<string, Buffer>): EndpointSecrets {
  const keys = sealingKeys(bytes);
  const [active] = keys;
  if (active === undefined) throw new Error('Secrets of endpoints need at least one key.');
  const [activeId, activeKey] = active;
  return {
    activeKeyId: activeId,
    knows: (keyId) => keys.has(keyId),
    generate: () => `whsec_${randomBytes(24).toString('base64')}`,
    seal: (id, secret) => `${activeId}:${seal(activeKey, purposeOf(id), secret).toString('base64')}`,
    open(id, sealed) {
      const [keyId = '', cipher = ''] = sealed.split(':');
      const key = keys.get(keyId);
      if (key === undefined) throw new Error(`The secret of endpoint ${id} needs unknown key ${keyId}.`);
      return unseal(key, purposeOf(id), Buffer.from(cipher, 'base64'));
    },
  };
}
