import { createConfig } from 'ponder';
import { parseAbi } from 'viem';

const { BENCH_RPC_URLS, BENCH_FIRST, BENCH_LAST, BENCH_COINS, BENCH_COLLECTIBLE, BENCH_EDITION } =
  process.env;

const range = { chain: 'bench', startBlock: Number(BENCH_FIRST), endBlock: Number(BENCH_LAST) } as const;

// Ponder loads its configuration by the default export.
// biome-ignore lint/style/noDefaultExport: required by Ponder
export default createConfig({
  // Answers are of a chain that is made anew for each run, so none is kept.
  chains: { bench: { id: 31337, rpc: BENCH_RPC_URLS.split(','), disableCache: true } },
  contracts: {
    Coin: {
      ...range,
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
      address: BENCH_COINS.split(','),
    },
    Collectible: {
      ...range,
      abi: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)']),
      address: BENCH_COLLECTIBLE,
    },
    Edition: {
      ...range,
      abi: parseAbi([
        'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
        'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
      ]),
      address: BENCH_EDITION,
    },
  },
});
