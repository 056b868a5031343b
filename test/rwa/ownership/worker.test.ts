import { expect } from 'vitest';
import { createOwnershipLedger } from '../../../src/rwa/ownership/ledger.ts';
import { until } from '../../support/minting.ts';
import type { TestService } from '../../support/service.ts';
import { mint, test, wallets } from './ownership-setup.ts';

const [alice, bob] = wallets;

const begin = ({ parts }: TestService) => {
  const ledger = createOwnershipLedger({ ...parts, pollMs: 50 });
  ledger.start();
  return ledger;
};

test('of two workers one follows a network, whatever its history provider is, and the other takes over', async ({
  service,
  tokens,
  issued,
}) => {
  const [nft] = issued.nfts;
  if (nft === undefined) throw new Error('no NFT');
  await service.db('networks').update({ data_provider: 'moralis' });
  const ownerIs = (owner: string) =>
    until(`${owner} owns it`, async () => {
      const row = await service.db('nfts').where({ id: nft.id }).first('owner');
      return row.owner === owner;
    });
  const twin = await service.twin();
  const ledgers = [begin(service), begin(twin)];
  await mint(service, tokens, [nft], alice);
  await ownerIs(alice);
  const leases = await service.db('leases').where({ name: 'ownership 31337' });
  expect(leases).toHaveLength(1);
  await ledgers[0]?.stop();
  await tokens.send('moveBatch', [bob], [nft.tokenId]);
  await ownerIs(bob);
  await ledgers[1]?.stop();
  expect(await service.db('index_state').select()).toEqual([]);
  expect(await service.db('nft_transfers').where({ token_id: nft.tokenId })).toHaveLength(2);
});
