import { expect } from 'vitest';
import { createLogWidth } from '../../../src/chain/minting/log-scan.ts';
import { follow, issue, mint, test, wallets } from './ownership-setup.ts';

const nftCount = 100;
// Reorganisations take back some.
const batches = 112;
const perBatch = 50;
const depth = 4;

/** A repeatable series of numbers below a bound. */
function createChance(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test('holders equal an oracle that reads every Transfer of 5,000, with three reorganisations', {
  timeout: 300_000,
}, async ({ service, acme, tokens }) => {
  const { rwa, nfts } = await issue(service, tokens.contract, nftCount);
  await mint(service, tokens, nfts, wallets[0]);
  await tokens.mine(5);
  const chance = createChance(43);
  const owners = [
    ...wallets,
    ...Array.from({ length: 20 }, (_, at) => `0x${String(at + 1).padStart(40, 'a')}`),
  ];
  const ids = nfts.map(({ tokenId }) => tokenId);

  /** The holders that the service shows at the newest block, page by page, and those that the chain has. */
  const compare = async () => {
    const shown: [string, string[]][] = [];
    let cursor = '';
    let block = '';
    do {
      const { body } = await acme.get(`/v1/api/rwa/${rwa.id}/holders?limit=5&cursor=${cursor}`).expect(200);
      const sum = body.differences.reduce(
        (all: number, { count }: { count: number }) => all + count,
        body.held,
      );
      expect(sum).toBe(nftCount);
      for (const { wallet, tokenIds } of body.holders) shown.push([wallet, tokenIds.toSorted()]);
      block = body.block;
      cursor = body.cursor ?? '';
    } while (cursor !== '');
    const expected = [...(await tokens.holders(BigInt(block)))].map(([wallet, held]) => [
      wallet,
      held.toSorted(),
    ]);
    expect(shown.toSorted()).toEqual(expected.toSorted());
    return BigInt(block);
  };

  let reorganised = 0;
  for (let batch = 1; batch <= batches; batch += 1) {
    const moved = Array.from({ length: perBatch }, () => ids[chance(ids.length)] ?? '');
    const to = moved.map(() => owners[chance(owners.length)] ?? '');
    await tokens.send('moveBatch', to, moved);
    // Some parts are read block by block, others together.
    if (chance(3) === 0)
      await follow(service, undefined, { ...createLogWidth(), blocks: BigInt(1 + chance(4)) });
    if (batch % 30 !== 0) continue;
    await follow(service);
    await compare();
    await tokens.reorganise(1 + chance(depth));
    reorganised += 1;
    await follow(service);
    expect(await compare()).toBe(await tokens.head());
  }
  await follow(service);
  expect(await compare()).toBe(await tokens.head());
  expect(reorganised).toBe(3);
  const [row] = await service.db('nft_transfers').count();
  expect(Number(row?.['count'])).toBeGreaterThan(5_000);
});
