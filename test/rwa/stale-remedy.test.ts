import { expect } from 'vitest';
import type { MintNode } from '../../src/chain/minting/mint-node.ts';
import type { Proving } from '../../src/rwa/operators/remedies/mint-proof.ts';
import { findRequestedMint } from '../../src/rwa/operators/remedies/mint-remedy-store.ts';
import { replaceTaken } from '../../src/rwa/operators/remedies/mint-replace.ts';
import { test } from '../support/fixtures.ts';
import { addMintable, otherRecipient, treasury } from './mint-requests.ts';

const hash = `0x${'ab'.repeat(32)}`;

test('a token that became the own one of an NFT while its mint was judged is not replaced', async ({
  db,
  service,
}) => {
  const { nft, rwa } = await addMintable(service);
  const asked = (recipient: string, state: string) =>
    db('nfts')
      .where({ id: nft.id })
      .update({
        mint_state: state,
        recipient,
        mint_chain_id: '31337',
        mint_contract: rwa.contractAddress,
        queued_at: new Date(),
        mint_error: state === 'failed' ? 'It failed.' : null,
      });
  await asked(treasury, 'failed');
  const judged = await findRequestedMint(db, nft.id);
  if (judged === undefined) throw new Error('the mint has failed');
  // The company asks again, for the one who has the token.
  await asked(otherRecipient, 'queued');
  const sent = { from: otherRecipient, nonce: 1n, data: '0x' };
  const node = { transaction: async () => sent } as Partial<MintNode> as MintNode; // nothing else is asked
  const network = { chainId: '31337' } as Proving['network']; // its id is enough
  const proving: Proving = {
    db,
    network,
    node,
    signal: new AbortController().signal,
    onProgress: () => {},
    onChange: async () => {},
  };
  const event = {
    recipient: otherRecipient,
    tokenId: judged.tokenId,
    hash,
    blockNumber: 7n,
    blockHash: hash,
  };
  expect(await replaceTaken(proving, judged, event)).toMatch(/changed meanwhile/);
  const { token_id: tokenId, mint_state: state } = await db('nfts').where({ id: nft.id }).first();
  expect([tokenId, state]).toEqual([judged.tokenId, 'queued']);
});
