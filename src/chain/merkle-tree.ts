import { setImmediate as turn } from 'node:timers/promises';
import { keccak256 } from 'ethers';

/** What a wallet has, as a leaf of the tree. */
export type Leaf = {
  /** EIP-55. */
  readonly wallet: string;
  readonly count: number;
};

export type MerkleTree = { readonly root: string; proofOf(index: number): string[] };

// The event loop gets a turn between so many hashes.
const hashesInARow = 500;

const word = (hex: string): string => hex.padStart(64, '0');

/** Twice hashed, so that no inner node is taken for a leaf. */
const hashLeaf = ({ wallet, count }: Leaf): string =>
  keccak256(keccak256(`0x${word(wallet.slice(2).toLowerCase())}${word(count.toString(16))}`));

const hashPair = (one: string, other: string): string =>
  one < other ? keccak256(`${one}${other.slice(2)}`) : keccak256(`${other}${one.slice(2)}`);

/**
 * Builds the `StandardMerkleTree` of OpenZeppelin over `[address, uint256]`. The library itself blocks the process for seconds where
 * there are some thousand leaves.
 * @param leaves one at least
 * @returns the root, and what returns the proof of the leaf with an index
 */
export async function buildMerkleTree(leaves: readonly Leaf[]): Promise<MerkleTree> {
  let hashes = 0;
  const giveTurn = async () => {
    hashes += 1;
    if (hashes % hashesInARow === 0) await turn();
  };
  const hashed: { hash: string; index: number }[] = [];
  for (const [index, leaf] of leaves.entries()) {
    hashed.push({ hash: hashLeaf(leaf), index });
    await giveTurn();
  }
  hashed.sort((one, other) => (one.hash < other.hash ? -1 : 1));
  // The children of node i are 2i + 1 and 2i + 2; the leaves are last, in reverse order.
  const tree: string[] = Array.from({ length: 2 * leaves.length - 1 }, () => '');
  const nodeOf: number[] = [];
  for (const [place, { hash, index }] of hashed.entries()) {
    nodeOf[index] = tree.length - 1 - place;
    tree[tree.length - 1 - place] = hash;
  }
  for (let node = leaves.length - 2; node >= 0; node -= 1) {
    tree[node] = hashPair(tree[2 * node + 1] ?? '', tree[2 * node + 2] ?? '');
    await giveTurn();
  }
  return { root: tree[0] ?? '', proofOf: (index) => proofOf(tree, nodeOf[index] ?? 0) };
}

/** The siblings on the way from a node to the root. */
function proofOf(tree: readonly string[], leaf: number): string[] {
  const proof: string[] = [];
  for (let node = leaf; node > 0; node = Math.floor((node - 1) / 2)) {
    proof.push(tree[node % 2 === 1 ? node + 1 : node - 1] ?? '');
  }
  return proof;
}
