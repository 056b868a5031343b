import { expect, vi } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { createMetadataFiller } from '../../src/providers/indexer/tokens/metadata-filler.ts';
import { test } from '../support/fixtures.ts';

const log = createLogger({ level: 'silent' });
const chainId = '31337';
test('silent hosts keep no other token waiting while a place is free', async ({ db }) => {
  const hosts = [...Array(7).fill('silent'), ...Array(20).fill('well')];
  await db('nft_tokens').insert(
    hosts.map((host, token_id) => ({
      chain_id: chainId,
      standard: 721,
      contract: Buffer.alloc(20, 1),
      token_id,
      token_uri: `https://${host}.example/${token_id}`,
      metadata_due: new Date(token_id),
    })),
  );
  const silence = Promise.withResolvers<string>();
  const fetch = async (uri: string) => (uri.includes('well') ? '{"name":"well"}' : silence.promise);
  const end = new AbortController();
  const filled = createMetadataFiller({ chainId, db, fetcher: { fetch }, log })(end.signal);
  const fetched = () => db('nft_tokens').whereNotNull('metadata');
  await vi.waitFor(async () => expect(await fetched()).toHaveLength(20), { timeout: 10_000 });
  end.abort();
  silence.resolve('{}');
  await filled;
  expect(await fetched()).toHaveLength(27);
});
