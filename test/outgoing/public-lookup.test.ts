import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createPublicLookup, ForbiddenHostError } from '../../src/outgoing/public-address.ts';

const notFound = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
const resolverOf = (...answers: readonly (readonly string[])[]) => {
  const left = [...answers];
  return {
    resolve4: vi.fn(async () => [...(left.shift() ?? [])]),
    resolve6: vi.fn((): Promise<string[]> => Promise.reject(notFound)),
  };
};

/** The address to which a connection is tried first. */
async function target(lookup: ReturnType<typeof createPublicLookup>, host = 'rebinding.example') {
  const socket = connect({ host, port: 9, lookup });
  const attempt = once(socket, 'connectionAttempt');
  try {
    const [address] = await attempt;
    return address;
  } finally {
    socket.on('error', () => {}).destroy();
  }
}

describe('the lookup of a public host', () => {
  test('is pinned at connect: the address that was checked is the one that is connected to', async () => {
    const resolver = resolverOf(['93.184.216.34'], ['127.0.0.1']);
    const lookup = createPublicLookup(resolver);
    expect(await target(lookup)).toBe('93.184.216.34');
    expect(resolver.resolve4).toHaveBeenCalledTimes(1);
    await expect(target(lookup)).rejects.toThrow(ForbiddenHostError);
  });

  test('leaves inside addresses out of a mixed answer', async () => {
    const mixed = ['127.0.0.1', '169.254.169.254', '93.184.216.34', '10.0.0.1'];
    expect(await target(createPublicLookup(resolverOf(mixed)))).toBe('93.184.216.34');
  });

  test('takes IPv6 where there is no IPv4, and the public ones only', async () => {
    const resolver = { ...resolverOf(), resolve4: () => Promise.reject(notFound) };
    const both = { ...resolver, resolve6: async () => ['::1', 'fd00::1', '2606:2800:220:1::1'] };
    expect(await target(createPublicLookup(both))).toBe('2606:2800:220:1::1');
    await expect(target(createPublicLookup(resolver))).rejects.toThrow('ENOTFOUND');
  });

  test.each(['localhost', 'LOCALHOST.', 'a.localhost', 'postgres'])('asks nobody for %s', async (host) => {
    const resolver = resolverOf(['93.184.216.34']);
    await expect(target(createPublicLookup(resolver), host)).rejects.toThrow('is no public host');
    expect(resolver.resolve4).not.toHaveBeenCalled();
  });
});
