import { expect } from 'vitest';
import type { SentTransaction } from '../../src/chain/minting/evidence-node.ts';
import { encodeMintBatch } from '../../src/chain/minting/mint-contract.ts';
import type { MintNode } from '../../src/chain/minting/mint-node.ts';
import { judgeMint, whyAPersonDecides } from '../../src/rwa/operators/remedies/mint-proof.ts';
import type { RequestedMint } from '../../src/rwa/operators/remedies/mint-remedy-store.ts';
import { addNetwork, contractAddress as contract, recipient } from '../rwa/samples.ts';
import { test } from '../support/fixtures.ts';

const signer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const other = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
const tokenId = '18446744073709551617';
const hash = `0x${'ab'.repeat(32)}`;
const event = { recipient: other, tokenId, hash, blockNumber: 7n, blockHash: hash };

const told = (to: string) => encodeMintBatch([{ recipient: to, tokenId }]);

test.for([
  ['of a stranger', other, told(other), undefined],
  [
    'of our signer to our recipient, which the contract gave to somebody else',
    signer,
    told(recipient),
    undefined,
  ],
  ['of our signer to the other', signer, told(other), 'our own signer'],
  ['of our signer by another call', signer, '0x12345678', 'our own signer'],
] as const)(
  'a person decides about a mint by whom it was told, and to whom: %s',
  async ([, from, data, why], { db }) => {
    const chainId = await addNetwork(db);
    await db('mint_lanes').insert({ chain_id: chainId, signer }).onConflict(['chain_id', 'signer']).ignore();
    const sent: SentTransaction = { from, nonce: 1n, data };
    const node = { transaction: async () => sent } as Partial<MintNode> as MintNode; // nothing else is asked
    const network = { chainId } as Parameters<typeof whyAPersonDecides>[0]['network']; // its id is enough
    const mint = { contract, nftId: 'id', recipient, tokenId } as RequestedMint; // what is read of it
    const found = await whyAPersonDecides({ db, network, node }, mint, event);
    if (why === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(why);
  },
);

test('a mint in a block that the node does not have in its chain proves nothing', async () => {
  const block = { number: 7n, hash: `0x${'cd'.repeat(32)}`, parentHash: hash, time: new Date() };
  const node = { finalized: 9n, block: async () => block } as Partial<MintNode> as MintNode; // nothing else is asked
  const mint = { recipient } as RequestedMint; // what is read of it
  await expect(judgeMint({ node }, mint, event)).rejects.toThrow('not in its chain');
  expect(await judgeMint({ node }, mint, { ...event, blockHash: block.hash })).toMatchObject({
    kind: 'taken',
  });
});
