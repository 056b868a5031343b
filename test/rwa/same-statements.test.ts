import { expect } from 'vitest';
import { testWith } from '../support/fixtures.ts';
import { noteStatements } from '../support/sent-statements.ts';
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

const sentStatements = noteStatements();
const test = testWith(behindProxy);

const operations = [
  ['getClaim', '/state', {}],
  ['checkClaimRecipient', '/recipient', { recipient }],
  ['createClaim', '', { recipient }],
] as const;

test.for(operations)(
  '%s sends the same statements for a wrong secret, an unknown NFT and one that did not opt in',
  async ([_, path, more], { service, anyone }) => {
    const { nft } = await addClaimable(service);
    const tried = [{ id: nft.id, secret: wrongSecret() }, ...(await unclaimableIds(service))];
    const sentFor = (id: string, secret: string, address: string, status: number) =>
      sentStatements(() =>
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
