import { expect } from 'vitest';
import { perFile, testWith } from '../support/fixtures.ts';
import { startPostgresTap } from '../support/postgres-tap.ts';
import { startServiceOn } from '../support/service.ts';
import {
  addClaimable,
  behindProxy,
  claimPaths,
  from,
  newAddress,
  unclaimableIds,
  wrongSecret,
} from './claim-requests.ts';
import { recipient } from './samples.ts';

const test = testWith(behindProxy)
  .extend('tap', perFile, async ({ databaseUrl }, { onCleanup }) => {
    const tap = await startPostgresTap(databaseUrl);
    onCleanup(() => tap.close());
    return tap;
  })
  .extend('service', perFile, async ({ database, tap, serviceOptions }, { onCleanup }) => {
    const service = await startServiceOn({ ...database, url: tap.url }, serviceOptions);
    onCleanup(() => service.close());
    return service;
  });

const operations = [
  ['getClaim', '/state', {}],
  ['checkClaimRecipient', '/recipient', { recipient }],
  ['createClaim', '', { recipient }],
] as const;

test.for(operations)(
  '%s sends the same statements for a wrong secret, an unknown NFT and one that did not opt in',
  async ([_, path, more], { service, anyone, tap }) => {
    const { nft } = await addClaimable(service);
    const tried = [{ id: nft.id, secret: wrongSecret() }, ...(await unclaimableIds(service))];
    const sentFor = (id: string, secret: string, address: string, status: number) =>
      tap.statementsOf(() =>
        from(
          anyone,
          address,
        )(`${claimPaths(id).claimPath}${path}`)
          .send({ secret, ...more })
          .expect(status),
      );
    for (const { id, secret } of tried) {
      const address = newAddress();
      // The first five, and what is refused after them.
      for (const status of [404, 404, 404, 404, 404, 429]) {
        const sent = await sentFor(id, secret, address, status);
        expect(sent).toEqual([
          expect.stringMatching(/^\s*SELECT n\.id, .*n\.secret_cipher/),
          expect.stringContaining('INSERT INTO wrong_secrets'),
        ]);
      }
      // What cannot be a secret is refused without a look.
      expect(await sentFor(id, 'no secret', address, 404)).toEqual([]);
    }
  },
);
