import { expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMetadataFiller } from '../../src/providers/indexer/tokens/metadata-filler.ts';
import { test } from '../support/fixtures.ts';

const log = createLogger({ level: 'silent' });
const chainId = '31337';
const silentContract = Buffer.alloc(20, 1);
const others = [Buffer.alloc(20, 2), Buffer.alloc(20, 3), Buffer.alloc(20, 4)];

test('a contract whose hosts are silent keeps no other waiting, however many of its tokens are due before', async ({
  db,
}) => {
  const key = { chain_id: chainId, standard: 721 };
  await db('nft_tokens').insert(
    Array.from({ length: 100 }, (_, token_id) => ({
      ...key,
      contract: silentContract,
      token_id,
      token_uri: `https://silent.example/${token_id}`,
      metadata_due: new Date(0),
    })),
  );
  const later = others.map((contract, index) => ({
    ...key,
    contract,
    token_id: 1,
    token_uri: `https://well.example/${index}`,
    metadata_due: new Date(1_000),
  }));
  const silence = Promise.withResolvers<string>();
  let silent = 0;
  const fetch = async (uri: string) => {
    if (uri.includes('well')) return '{"name":"well"}';
    silent += 1;
    return silence.promise;
  };
  const end = new AbortController();
  const filled = createMetadataFiller({ chainId, db, fetcher: { fetch }, log })(end.signal);
  // Alone it has all places but those that are kept for others.
  await vi.waitFor(() => expect(silent).toBe(6), { timeout: 10_000 });
  await db('nft_tokens').insert(later);
  const fetched = () => db('nft_tokens').whereNotNull('metadata').pluck('token_uri');
  await vi.waitFor(async () => expect(await fetched()).toHaveLength(3), { timeout: 10_000 });
  expect(silent).toBe(6);
  end.abort();
  silence.resolve('{}');
  await filled;
  expect(await db('nft_tokens').whereNull('metadata')).toHaveLength(94);
});
