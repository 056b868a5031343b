import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { insertIndexHead } from '../support/index-head.ts';
import { walk } from '../support/walk.ts';

const wallet = `0x${'a1'.repeat(20)}`;
const contract = Buffer.from('70'.repeat(20), 'hex');
const count = 100;
const path = `/blockchain/v1/api/nft?chainId=31337&address=${wallet}`;

type Nft = { token_id: string; metadata: string | null; normalized_metadata?: { name: string } };

/** A wallet with a hundred NFTs, whose metadata have so many bytes. */
test.beforeAll(async ({ db, service: _service }) => {
  await insertIndexHead(db);
  const ids = Array.from({ length: count }, (_, index) => index);
  await db('nft_holdings').insert(
    ids.map((id) => ({
      chain_id: '31337',
      contract,
      token_id: id,
      standard: 721,
      amount: 1,
      wallet: Buffer.from(wallet.slice(2), 'hex'),
      acquired_block: 5,
      acquired_log: id,
      changed_block: 5,
    })),
  );
  for (const id of ids) {
    const metadata = JSON.stringify({ name: `Cask ${id}`, description: 'x'.repeat(60_000) });
    await db('nft_tokens').insert({ chain_id: '31337', contract, token_id: id, standard: 721, metadata });
  }
});

// Half of a pair of surrogates, and NUL: Python cannot write one as UTF-8, and PostgreSQL's jsonb takes neither.
const hostile = { name: 'a\ud83db\0c', attributes: [{ trait_type: '\ude00', value: 'x\0' }] };

test('texts of an NFT that strict parsers refuse do not reach answers, however they are stored', async ({
  acme,
  db,
}) => {
  const token = db('nft_tokens').where({ token_id: 99 });
  const { metadata: before } = await token.clone().first('metadata');
  await token.clone().update({ metadata: JSON.stringify(hostile) });
  const { body, text } = await acme.get(`${path}&limit=10`).expect(200);
  const nft = body.result.find(({ token_id: id }: Nft) => id === '99');
  expect(nft.normalized_metadata.name).toBe('a\ufffdb\ufffdc');
  expect(JSON.parse(nft.metadata).name).toBe('a\ufffdb\ufffdc');
  // The page, and the metadata in it, as jsonb, which refuses the whole for one of them.
  await db.raw('SELECT ?::jsonb, ?::jsonb', [text, nft.metadata]);
  await token.clone().update({ metadata: before });
});

describe('a wallet whose NFTs have much metadata', () => {
  test('is listed whole in pages of a bounded size', async ({ acme }) => {
    const pages = await walk(async (cursor) => {
      const { body, text } = await acme.get(cursor ? `${path}&cursor=${cursor}` : path).expect(200);
      expect(text.length).toBeLessThan(6_000_000);
      expect(body.page_size).toBe(body.result.length);
      return { next: body.cursor, result: body.result as Nft[] };
    });
    const found = pages.flatMap(({ result }) => result);
    expect(new Set(found.map(({ token_id: id }) => id)).size).toBe(count);
    expect(found).toHaveLength(count);
    for (const nft of found) {
      expect(JSON.parse(nft.metadata ?? '')).toMatchObject({ name: `Cask ${nft.token_id}` });
      expect(nft.normalized_metadata?.name).toBe(`Cask ${nft.token_id}`);
    }
  });

  test('has at least one NFT on a page, and does not show what an earlier release kept whole', async ({
    acme,
    db,
  }) => {
    await db('nft_tokens').update({
      metadata: JSON.stringify({ image: 'x'.repeat(1_000_000) }),
      token_uri: `data:,${'x'.repeat(100_000)}`,
    });
    const { body, text } = await acme.get(path).expect(200);
    expect(text.length).toBeLessThan(6_000_000);
    expect(body.result.length).toBeGreaterThan(10);
    expect(body.result[0].metadata).toBe('{"_truncated":["*"]}');
    expect(body.result[0].token_uri).toMatch(/^data:,x{122}…$/);
  });

  // JSON.stringify takes some more of them on the stack of a fetch than on that of an answer.
  test.for([33, 1_000, 4_400, 4_460])(
    'does not show what an earlier release kept %i levels deep',
    async (levels, { acme, db }) => {
      const value = `${'['.repeat(levels)}${']'.repeat(levels)}`;
      const metadata = `{"name":"Cask","attributes":[{"trait_type":"Age","value":${value}}]}`;
      await db('nft_tokens').update({ metadata });
      const { body } = await acme.get(path).expect(200);
      expect(body.result[0].metadata).toBe('{"name":"Cask","_truncated":["attributes"]}');
      expect(body.result[0].normalized_metadata).toEqual({ name: 'Cask' });
    },
  );
});
