import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { getAddress } from 'ethers';
import { expect, test } from 'vitest';
import { buildMerkleTree } from '../../src/chain/merkle-tree.ts';

const leavesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    wallet: getAddress(`0x${(index * 7_919 + 1).toString(16).padStart(40, 'b')}`),
    count: 1 + (index % 300),
  }));

test.each([1, 2, 3, 4, 5, 7, 8, 33, 100])('%i leaves have root and proofs of the library', async (count) => {
  const leaves = leavesOf(count);
  const values = leaves.map(({ wallet, count: owned }): [string, string] => [wallet, String(owned)]);
  const library = StandardMerkleTree.of(values, ['address', 'uint256']);
  const { root, proofOf } = await buildMerkleTree(leaves);
  expect(root).toBe(library.root);
  expect(leaves.map((_, index) => proofOf(index))).toEqual(values.map((value) => library.getProof(value)));
});

test('the process has turns meanwhile', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  });
  await buildMerkleTree(leavesOf(3_000));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});
