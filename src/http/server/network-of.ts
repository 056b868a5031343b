import { isIPv6 } from 'node:net';

/** An IPv4 address, or the first 64 bits of an IPv6 address: the owner of one such address has the whole network. */
export function networkOf(address: string): string {
  return isIPv6(address) && !address.includes('.') ? expand(address).slice(0, 4).join(':') : address;
}

function expand(address: string): string[] {
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? [];
  const [before, after] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = 8 - (before?.length ?? 0) - (after?.length ?? 0);
  return [...(before ?? []), ...Array<string>(Math.max(0, zeros)).fill('0'), ...(after ?? [])];
}
