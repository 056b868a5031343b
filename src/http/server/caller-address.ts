import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import type { Request } from 'express';

// The names that the setting accepts in addition to addresses and networks.
const namedNetworks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Creates a function that says whether an address belongs to a trusted proxy: Express's `trust proxy`.
 * @param trustedProxies addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`
 */
export function createProxyCheck(
  trustedProxies: readonly string[],
): (address: string | undefined) => boolean {
  const proxies = new BlockList();
  for (const network of trustedProxies.flatMap((name) => namedNetworks[name] ?? [name])) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return (text = '') => {
    const address = trustedProxies.length > 0 ? parseCallerAddress(text) : undefined;
    return address !== undefined && proxies.check(address, familyOf(address));
  };
}

/**
 * Returns the caller's address: the address that trusted proxies name in `X-Forwarded-For`, or the address of the
 * connection. Express takes any text that a proxy passes on for an address; where it is none, the entries before it may
 * be made up too.
 */
export const callerAddress = ({ ip = '', socket }: Pick<Request, 'ip' | 'socket'>): string =>
  parseCallerAddress(ip) ?? parseCallerAddress(socket.remoteAddress ?? '') ?? '';

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

// In brackets, or with a port behind: `[::1]`, `[::1]:443`, `192.0.2.1:443`.
const dressed = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/;

/**
 * Reads an address as proxies write it: in brackets, with a port or a zone. The result is in its shortest form, and IPv4
 * where it is mapped into IPv6, so that each caller has one address.
 * @returns undefined for anything else
 */
export function parseCallerAddress(text: string): string | undefined {
  const [, bracketed, beforePort] = dressed.exec(text) ?? [];
  const bare = bracketed ?? beforePort ?? text;
  const version = isIP(bare);
  if (version !== 6) return version === 4 ? bare : undefined;
  const [address = ''] = bare.split('%');
  const shortest = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = shortest.replace(/^::ffff:/, '');
  return isIPv4(mapped) ? mapped : shortest;
}
