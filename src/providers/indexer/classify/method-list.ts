/** Signatures of a contract's methods, with the contract whose published interface they come from. */
type Methods = { readonly source: string; readonly signatures: readonly string[] };

const order =
  '(address,address,(uint8,address,uint256,uint256,uint256)[],' +
  '(uint8,address,uint256,uint256,uint256,address)[],uint8,uint256,uint256,bytes32,uint256,bytes32,uint256)';
const basicOrder =
  '(address,uint256,uint256,address,address,address,uint256,uint256,uint8,uint256,uint256,bytes32,uint256,' +
  'bytes32,bytes32,uint256,(uint256,address)[],bytes)';

/**
 * The most used methods of the recorded blocks that have a published interface, and the rest of the same interfaces.
 * A label is the name before the parenthesis; the selector is computed from the whole signature.
 */
export const labelled: readonly Methods[] = [
  {
    source: 'EIP-20, EIP-721, EIP-1155, EIP-2612; OpenZeppelin Contracts',
    signatures: [
      'transfer(address,uint256)',
      'transferFrom(address,address,uint256)',
      'approve(address,uint256)',
      'setApprovalForAll(address,bool)',
      'increaseAllowance(address,uint256)',
      'decreaseAllowance(address,uint256)',
      'safeTransferFrom(address,address,uint256)',
      'safeTransferFrom(address,address,uint256,bytes)',
      'safeTransferFrom(address,address,uint256,uint256,bytes)',
      'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
      'mint(address,uint256)',
      'mint(uint256)',
      'mint()',
      'burn(uint256)',
      'multicall(bytes[])',
      'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
    ],
  },
  {
    source: 'Uniswap/v2-periphery, UniswapV2Router02',
    signatures: [
      'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)',
      'swapTokensForExactTokens(uint256,uint256,address[],address,uint256)',
      'swapExactETHForTokens(uint256,address[],address,uint256)',
      'swapTokensForExactETH(uint256,uint256,address[],address,uint256)',
      'swapExactTokensForETH(uint256,uint256,address[],address,uint256)',
      'swapETHForExactTokens(uint256,address[],address,uint256)',
      'swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)',
      'swapExactETHForTokensSupportingFeeOnTransferTokens(uint256,address[],address,uint256)',
      'swapExactTokensForETHSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)',
      'addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)',
      'addLiquidityETH(address,uint256,uint256,uint256,address,uint256)',
      'removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)',
      'removeLiquidityETH(address,uint256,uint256,uint256,address,uint256)',
    ],
  },
  {
    source: 'Uniswap/v3-periphery, SwapRouter; Uniswap/swap-router-contracts, SwapRouter02',
    signatures: [
      'exactInput((bytes,address,uint256,uint256,uint256))',
      'exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))',
      'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))',
      'exactOutputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))',
      'multicall(uint256,bytes[])',
    ],
  },
  {
    source: 'Uniswap/universal-router, UniversalRouter',
    signatures: ['execute(bytes,bytes[])', 'execute(bytes,bytes[],uint256)'],
  },
  {
    source: '1inch, AggregationRouterV4 and AggregationRouterV5',
    signatures: [
      'swap(address,(address,address,address,address,uint256,uint256,uint256,bytes),bytes)',
      'swap(address,(address,address,address,address,uint256,uint256,uint256),bytes,bytes)',
      'unoswap(address,uint256,uint256,bytes32[])',
      'unoswap(address,uint256,uint256,uint256[])',
      'uniswapV3Swap(uint256,uint256,uint256[])',
    ],
  },
  { source: 'MetaMask, MetaSwap', signatures: ['swap(string,address,uint256,bytes)'] },
  {
    source: '0xProject/protocol, zero-ex',
    signatures: [
      'transformERC20(address,address,uint256,uint256,(uint32,bytes)[])',
      'sellToUniswap(address[],uint256,uint256,bool)',
    ],
  },
  {
    source: 'sushiswap/sushiswap, RouteProcessor',
    signatures: ['processRoute(address,uint256,address,uint256,address,bytes)'],
  },
  {
    source: 'ProjectOpenSea/seaport; wyvern-ethereum, WyvernExchange',
    signatures: [
      `fulfillBasicOrder(${basicOrder})`,
      `fulfillBasicOrder_efficient_6GL6yc(${basicOrder})`,
      `cancel(${order}[])`,
      'atomicMatch_(address[14],uint256[18],uint8[8],bytes,bytes,bytes,bytes,bytes,bytes,uint8[2],bytes32[5])',
    ],
  },
  {
    source: 'EtherDelta',
    signatures: [
      'trade(address,uint256,address,uint256,uint256,uint256,address,uint8,bytes32,bytes32,uint256)',
      'cancelOrder(address,uint256,address,uint256,uint256,uint256,uint8,bytes32,bytes32)',
      'depositToken(address,uint256)',
      'withdrawToken(address,uint256)',
    ],
  },
  {
    source: 'safe-global/safe-smart-account, Safe',
    signatures: [
      'execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)',
    ],
  },
  {
    source: 'smartcontractkit/libocr, OffchainAggregator',
    signatures: ['transmit(bytes,bytes32[],bytes32[],bytes32)'],
  },
  {
    source: 'thirdweb-dev/contracts, Drop',
    signatures: ['claim(address,uint256,address,uint256,(bytes32[],uint256,uint256,address),bytes)'],
  },
  {
    source: 'matter-labs/era-contracts, Mailbox',
    signatures: ['requestL2Transaction(address,uint256,bytes,uint256,uint256,bytes[],address)'],
  },
  {
    source: 'maticnetwork/pos-portal, NativeMetaTransaction',
    signatures: ['executeMetaTransaction(address,bytes,bytes32,bytes32,uint8)'],
  },
];

/** By which coins go into a contract: WETH9, EIP-4626, MasterChef, Aave, and staking contracts after Synthetix. */
export const deposits: readonly string[] = [
  'deposit()',
  'deposit(uint256)',
  'deposit(uint256,address)',
  'deposit(address,uint256)',
  'deposit(uint256,uint256)',
  'stake()',
  'stake(uint256)',
  'supply(address,uint256,address,uint16)',
];

/** By which coins come out of a contract; the same sources. */
export const withdrawals: readonly string[] = [
  'withdraw()',
  'withdraw(uint256)',
  'withdraw(uint256,address)',
  'withdraw(address,uint256)',
  'withdraw(uint256,uint256)',
  'withdraw(address,uint256,address)',
  'withdraw(uint256,address,address)',
  'unstake(uint256)',
  'redeem(uint256)',
  'redeem(uint256,address,address)',
];
