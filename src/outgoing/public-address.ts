import { promises as dns, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses outside the public internet: loopback, private and special networks. */
const special = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  special.addSubnet(net, prefix, 'ipv4');
}
// All public addresses are in 2000::/3; some of its ranges are tunnels, which could carry any IPv4 address.
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special.addSubnet(net, prefix, 'ipv6');
}

/** Whether an IP address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  return version === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** A host that must not be contacted. */
export class ForbiddenHostError extends Error {}

type Resolver = Record<'resolve4' | 'resolve6', (name: string) => Promise<string[]>>;

/**
 * Resolves names for a connection and returns only public addresses. The connection uses the addresses that were
 * checked, so DNS rebinding has no effect. Strangers choose the names: they are asked of the name servers with a limit, and
 * not by the system's function, whose few threads nodes and PostgreSQL need as well. So `/etc/hosts` says nothing here,
 * and has no public hosts.
 */
export function createPublicLookup(resolver: Resolver): LookupFunction {
  return (hostname, options, callback) => {
    resolvePublic(resolver, hostname).then(
      (allowed) => {
        const [first] = allowed;
        if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

export const lookupPublic = createPublicLookup(new dns.Resolver({ timeout: 2_000, tries: 1 }));

/** @throws ForbiddenHostError; the error of the resolver when it gave no address of either kind */
async function resolvePublic(
  resolver: Resolver,
  hostname: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const forbidden = () => new ForbiddenHostError(`${hostname} is no public host`);
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (!name.includes('.') || name.endsWith('.localhost')) throw forbidden();
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  const found = [
    ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 })),
    ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 })),
  ];
  const [first, ...others] = found.filter(({ address }) => isPublicAddress(address));
  if (first === undefined) throw forbidden();
  return [first, ...others];
}
