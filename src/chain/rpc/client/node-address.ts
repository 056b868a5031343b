import { readFileSync } from 'node:fs';
import { redactUrl } from '../../../base/log.ts';
import { seal, sealingKeys, unseal } from '../../../base/sealing.ts';
import { errorCode } from '../../../base/thrown.ts';

/*
 * The address of a node as a network has it: an http(s) URL; `file:` and the path of a file that contains one; or a URL
 * that is sealed because it carries credentials, `sealed:<key id>:<base64>:<its public part>`.
 */

const sealedForm = /^sealed:([A-Za-z0-9_-]+):([A-Za-z0-9_-]+):(.*)$/s;

/** An address as the database stores it: in clear, or its public part with the sealed rest. */
export type StoredAddress = { readonly shown: string; readonly sealed: string | null };

/** The two parts of an address. */
export function storeAddress(address: string): StoredAddress {
  const [, keyId, cipher, shown] = sealedForm.exec(address) ?? [];
  if (shown === undefined) return { shown: address, sealed: null };
  return { shown, sealed: `${keyId}:${cipher}` };
}

/** The address of two stored parts. One that an earlier release has written since is in clear. */
export function addressOf({ shown, sealed }: StoredAddress): string {
  return sealed === null || showAddress(shown) !== shown || !hidesPart(shown)
    ? shown
    : `sealed:${sealed}:${shown}`;
}

/** An address for logs and people. */
export function showAddress(address: string): string {
  if (address.startsWith('file:')) return address;
  return sealedForm.exec(address)?.[3] ?? redactUrl(address);
}

const hidesPart = (shown: string) => shown.endsWith('/[redacted]');

/** Whether an address carries in clear what a log would not show. */
export const isInClear = (address: string): boolean =>
  !/^(file|sealed):/.test(address) && hidesPart(showAddress(address));

/** The id of the key that an address is sealed with; undefined when it is not sealed. */
const sealedWith = (address: string): string | undefined => sealedForm.exec(address)?.[1];

/** Seals and opens addresses. Without keys it seals none. */
export type NodeAddresses = {
  /** The address with its credentials sealed by the first key; as it is where nothing is to be sealed. */
  seal(address: string): string;
  /** The URL of an address. @throws Error naming the address and the missing key */
  open(address: string): string;
};

const purposeOf = (shown: string) => `tallystick node address ${shown}`;

type KeyRing = ReadonlyMap<string, Buffer> | undefined;

/** Creates what seals addresses by the settings: NODE_KEYS come first, so that a process needs no SECRET_KEYS to ask nodes. */
export const nodeAddressesOf = ({
  NODE_KEYS,
  SECRET_KEYS,
}: {
  readonly NODE_KEYS: KeyRing;
  readonly SECRET_KEYS: KeyRing;
}) => createNodeAddresses(new Map([...(NODE_KEYS ?? []), ...(SECRET_KEYS ?? [])]));

/** @param bytes the first seals, all open */
export function createNodeAddresses(bytes: ReadonlyMap<string, Buffer> = new Map()): NodeAddresses {
  const keys = sealingKeys(bytes);
  const [active] = keys;
  const open = (address: string): string => {
    if (address.startsWith('file:')) return readAddress(address.slice('file:'.length));
    const [, keyId = '', cipher = '', shown = ''] = sealedForm.exec(address) ?? [];
    if (shown === '') return address;
    const key = keys.get(keyId);
    if (key === undefined)
      throw new Error(
        `The address ${shown} is sealed with key ${keyId}, which neither NODE_KEYS nor SECRET_KEYS has.`,
      );
    try {
      return unseal(key, purposeOf(shown), Buffer.from(cipher, 'base64url'));
    } catch (cause) {
      throw new Error(
        `The address ${shown} does not open with key ${keyId} of NODE_KEYS or SECRET_KEYS: it has other bytes.`,
        { cause },
      );
    }
  };
  return {
    open,
    seal(address) {
      const isOld = sealedWith(address) !== undefined && sealedWith(address) !== active?.[0];
      if (active === undefined || !(isInClear(address) || isOld)) return address;
      const [keyId, key] = active;
      const shown = showAddress(address);
      return `sealed:${keyId}:${seal(key, purposeOf(shown), open(address)).toString('base64url')}:${shown}`;
    },
  };
}

/** Checks that every sealed address opens. @throws Error naming the first that does not */
export function assertAddressesOpen(
  networks: readonly { readonly chainId: string; readonly rpcUrls: readonly string[] }[],
  addresses: NodeAddresses,
): void {
  for (const { chainId, rpcUrls } of networks) {
    for (const address of rpcUrls) {
      if (sealedWith(address) === undefined) continue;
      try {
        addresses.open(address);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Network ${chainId}: ${reason}`, { cause });
      }
    }
  }
}

function readAddress(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    const code = errorCode(cause) ?? 'unknown';
    throw new Error(`The file ${path}, which holds the address of a node, cannot be read (${code}).`, {
      cause,
    });
  }
}
