import { randomBytes } from 'node:crypto';
import { seal, sealingKeys, unseal } from '../../base/sealing.ts';
import { sealedParts } from './endpoint-url.ts';

/** Seals the secrets that sign deliveries, and the addresses that they go to. */
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
  /** Seals path and query of an address, as `https://host key id:base64`. */
  sealUrl(endpointId: string, url: string): string;
  /** The address of an endpoint. @throws as `open` does */
  openUrl(endpoint: { readonly id: string; readonly address: string }): string;
};

const secretOf = (endpointId: string) => `tallystick endpoint secret ${endpointId}`;
const addressOf = (endpointId: string) => `tallystick endpoint address ${endpointId}`;

/** @param bytes the keys of SECRET_KEYS; the first seals, all open */
export function createEndpointSecrets(bytes: ReadonlyMap<string, Buffer>): EndpointSecrets {
  const keys = sealingKeys(bytes);
  const [active] = keys;
  if (active === undefined) throw new Error('Secrets of endpoints need at least one key.');
  const [activeId, activeKey] = active;
  const sealFor = (purpose: string, text: string) =>
    `${activeId}:${seal(activeKey, purpose, text).toString('base64')}`;
  const openFor = (purpose: string, sealed: string) => {
    const [keyId = '', cipher = ''] = sealed.split(':');
    const key = keys.get(keyId);
    if (key === undefined)
      throw new Error(`The ${purpose.replace('tallystick ', '')} needs unknown key ${keyId}.`);
    return unseal(key, purpose, Buffer.from(cipher, 'base64'));
  };
  return {
    activeKeyId: activeId,
    knows: (keyId) => keys.has(keyId),
    generate: () => `whsec_${randomBytes(24).toString('base64')}`,
    seal: (id, secret) => sealFor(secretOf(id), secret),
    open: (id, sealed) => openFor(secretOf(id), sealed),
    sealUrl(id, url) {
      const { origin, pathname, search } = new URL(url);
      return `${origin} ${sealFor(addressOf(id), pathname + search)}`;
    },
    openUrl({ id, address }) {
      const parts = sealedParts(address);
      return parts === undefined ? address : parts.origin + openFor(addressOf(id), parts.sealed);
    },
  };
}
