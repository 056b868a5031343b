import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';

/** Who sent a request, as far as the connection and trusted proxies show. */
export type CallerAddresses = {
  /** Whether the connection of a request comes from a trusted proxy. */
  isFromProxy(request: IncomingMessage): boolean;
  /** The caller's address: what trusted proxies name in `X-Forwarded-For`, or that of the connection. */
  of(request: IncomingMessage): string;
};

// The names that the setting accepts in addition to addresses and networks.
const namedNetworks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** @param trustedProxies addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal` */
export function createCallerAddresses(trustedProxies: readonly string[]): CallerAddresses {
  const proxies = new BlockList();
  for (const network of trustedProxies.flatMap((name) => namedNetworks[name] ?? [name])) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  const isProxy = (address: string) =>
    trustedProxies.length > 0 && address !== '' && proxies.check(address, familyOf(address));
  return {
    isFromProxy: (request) => isProxy(connectionAddress(request)),
    of(request) {
      const connected = connectionAddress(request);
      let address = connected;
      for (const entry of entriesOf(request.headers['x-forwarded-for']).reverse()) {
        if (!isProxy(address)) break;
        const named = parseCallerAddress(entry);
        // The proxy named nobody, and what stands left of its entry may be made up.
        if (named === undefined) return connected;
        address = named;
      }
      return address;
    },
  };
}

const connectionAddress = ({ socket }: IncomingMessage) =>
  parseCallerAddress(socket.remoteAddress ?? '') ?? '';

/** The entries of a list in a header; empty ones are none. */
const entriesOf = (header: string | string[] = []): string[] =>
  [header]
    .flat()
    .flatMap((list) => list.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

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
