import { expect } from 'vitest';
import { callNode } from '../support/deploy.ts';
import { createFeeMarket } from '../support/fee-market.ts';
import { test } from '../support/fixtures.ts';

const gwei = 1_000_000_000n;

test('a market of a chain goes the way it is driven, and is calm afterwards', async ({ chain }) => {
  const call = <T>(method: string, ...params: unknown[]) => callNode<T>(chain.rpcUrl, method, params);
  const market = createFeeMarket(call);
  const next = async () => {
    await market.beforeBlock();
    await call('anvil_mine', '0x1');
    const { baseFeePerGas } = await call<{ baseFeePerGas: string }>('eth_getBlockByNumber', 'latest', false);
    return BigInt(baseFeePerGas);
  };
  const blocks = async (count: number) => {
    const fees: bigint[] = [];
    while (fees.length < count) fees.push(await next());
    return fees;
  };
  market.follow('rising', { least: 8n * gwei, most: 80n * gwei });
  expect(await blocks(3)).toEqual([8n * gwei, 9n * gwei, (81n * gwei) / 8n]);
  market.follow('falling', { least: gwei, most: 64n * gwei });
  expect(await blocks(3)).toEqual([64n * gwei, 56n * gwei, 49n * gwei]);
  market.follow('spike', { least: gwei, most: 200n * gwei });
  expect((await blocks(12)).map((fee) => fee / gwei)).toEqual([...Array(6).fill(1n), ...Array(6).fill(200n)]);
  market.hold(30n * gwei);
  expect(await blocks(2)).toEqual([30n * gwei, 30n * gwei]);
  await market.calm();
  expect(await next()).toBe(gwei);
});
