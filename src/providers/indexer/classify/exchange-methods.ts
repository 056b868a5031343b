/** Signatures of a contract's methods, with the contract whose published interface they come from. */
export type Methods = { readonly source: string; readonly signatures: readonly string[] };

const order =
  '(address,address,(uint8,address,uint256,uint256,uint256)[],' +
  '(uint8,address,uint256,uint256,uint256,address)[],uint8,uint256,uint256,bytes32,uint256,bytes32,uint256)';
const basicOrder =
  '(address,uint256,uint256,address,address,address,uint256,uint256,uint8,uint256,uint256,bytes32,uint256,' +
  'bytes32,bytes32,uint256,(uint256,address)[],bytes)';

const advancedOrder = `(${order},uint120,uint120,bytes,bytes)`;
const resolver = '(uint256,uint8,uint256,uint256,bytes32[])';
const components = '(uint256,uint256)';
const blurOrder =
  '(address,uint8,address,address,uint256,uint256,address,uint256,uint256,uint256,(uint16,address)[],uint256,bytes)';
const blurInput = `(${blurOrder},uint8,bytes32,bytes32,bytes,uint8,uint256)`;
const dropParams = '(uint256,uint256,uint256,uint256,uint256,uint256,uint256,bool)';
const gpv2Trade = '(uint256,uint256,address,uint256,uint256,uint32,bytes32,uint256,uint256,uint256,bytes)';

/** The methods of exchanges of tokens and of markets for NFTs. */
export const exchangeMethods: readonly Methods[] = [
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
    source: 'Uniswap/v2-periphery, UniswapV2Router02: what is taken out',
    signatures: [
      'removeLiquidityWithPermit(address,address,uint256,uint256,uint256,address,uint256,bool,uint8,bytes32,bytes32)',
      'removeLiquidityETHWithPermit(address,uint256,uint256,uint256,address,uint256,bool,uint8,bytes32,bytes32)',
      'removeLiquidityETHSupportingFeeOnTransferTokens(address,uint256,uint256,uint256,address,uint256)',
      'removeLiquidityETHWithPermitSupportingFeeOnTransferTokens(address,uint256,uint256,uint256,address,uint256,bool,uint8,bytes32,bytes32)',
    ],
  },
  {
    source: 'Uniswap/v3-periphery, NonfungiblePositionManager; Uniswap/permit2',
    signatures: [
      'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))',
      'increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))',
      'decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))',
      'collect((uint256,address,uint128,uint128))',
      'approve(address,address,uint160,uint48)',
    ],
  },
  {
    source: 'Uniswap/universal-router, UniversalRouter',
    signatures: ['execute(bytes,bytes[])', 'execute(bytes,bytes[],uint256)'],
  },
  {
    source: '1inch, AggregationRouterV4 to AggregationRouterV6, Settlement',
    signatures: [
      'swap(address,(address,address,address,address,uint256,uint256,uint256),bytes)',
      'unoswapTo(address,address,uint256,uint256,uint256[])',
      'uniswapV3SwapTo(address,uint256,uint256,uint256[])',
      'unoswap(uint256,uint256,uint256,uint256)',
      'unoswapTo(uint256,uint256,uint256,uint256,uint256)',
      'unoswap2(uint256,uint256,uint256,uint256,uint256)',
      'ethUnoswap(uint256,uint256)',
      'ethUnoswap2(uint256,uint256,uint256)',
      'settleOrders(bytes)',
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
      'sellEthForTokenToUniswapV3(bytes,uint256,address)',
      'sellTokenForEthToUniswapV3(bytes,uint256,uint256,address)',
      'sellTokenForTokenToUniswapV3(bytes,uint256,uint256,address)',
      'multiplexBatchSellEthForToken(address,(uint8,uint256,bytes)[],uint256)',
      'fillOtcOrderWithEth((address,address,uint128,uint128,address,address,address,uint256),(uint8,uint8,bytes32,bytes32))',
    ],
  },
  {
    source: 'cowprotocol/contracts, GPv2Settlement',
    signatures: [
      `settle(address[],uint256[],${gpv2Trade}[],(address,uint256,bytes)[][3])`,
      'setPreSignature(bytes,bool)',
      'invalidateOrder(bytes)',
    ],
  },
  {
    source: 'paraswap, AugustusSwapper V5 and V6; KyberSwap, MetaAggregationRouterV2; Hashflow, router',
    signatures: [
      'simpleSwap((address,address,uint256,uint256,uint256,address[],bytes,uint256[],uint256[],address,address,uint256,bytes,uint256,bytes16))',
      'swapExactAmountIn(address,(address,address,uint256,uint256,uint256,bytes32,address),uint256,bytes,bytes)',
      'swapOnUniswapV2Fork(address,uint256,uint256,address,uint256[])',
      'swap((address,address,bytes,(address,address,address[],uint256[],address[],uint256[],address,uint256,uint256,uint256,bytes),bytes))',
      'tradeSingleHop((address,address,address,address,address,address,uint256,uint256,uint256,uint256,uint256,bytes32,bytes))',
    ],
  },
  {
    source: 'curvefi, pools, VotingEscrow and gauges; balancer, Vault',
    signatures: [
      'exchange(int128,int128,uint256,uint256)',
      'exchange(uint256,uint256,uint256,uint256)',
      'exchange(uint256,uint256,uint256,uint256,bool)',
      'exchange_underlying(int128,int128,uint256,uint256)',
      'add_liquidity(uint256[2],uint256)',
      'add_liquidity(uint256[3],uint256)',
      'remove_liquidity_one_coin(uint256,int128,uint256)',
      'create_lock(uint256,uint256)',
      'increase_amount(uint256)',
      'increase_unlock_time(uint256)',
      'swap((bytes32,uint8,address,address,uint256,bytes),(address,bool,address,bool),uint256,uint256)',
      'joinPool(bytes32,address,address,(address[],uint256[],bytes,bool))',
      'exitPool(bytes32,address,address,(address[],uint256[],bytes,bool))',
      'flashLoan(address,address[],uint256[],bytes)',
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
      `fulfillOrder((${order},bytes),bytes32)`,
      `fulfillAdvancedOrder(${advancedOrder},${resolver}[],bytes32,address)`,
      `fulfillAvailableAdvancedOrders(${advancedOrder}[],${resolver}[],${components}[][],${components}[][],bytes32,address,uint256)`,
      `matchAdvancedOrders(${advancedOrder}[],${resolver}[],(${components}[],${components}[])[])`,
      `matchAdvancedOrders(${advancedOrder}[],${resolver}[],(${components}[],${components}[])[],address)`,
      'incrementCounter()',
      'incrementNonce()',
      'atomicMatch_(address[14],uint256[18],uint8[8],bytes,bytes,bytes,bytes,bytes,bytes,uint8[2],bytes32[5])',
    ],
  },
  {
    source: 'Blur, BlurExchange; GemSwap; ProjectOpenSea/seadrop; Larva Labs and CryptoKitties',
    signatures: [
      `execute(${blurInput},${blurInput})`,
      `bulkExecute((${blurInput},${blurInput})[])`,
      'batchBuyWithETH((uint256,uint256,bytes)[])',
      'mintPublic(address,address,address,uint256)',
      `mintAllowList(address,address,address,uint256,${dropParams},bytes32[])`,
      'buyPunk(uint256)',
      'transferPunk(address,uint256)',
      'bid(uint256)',
      'createSaleAuction(uint256,uint256,uint256,uint256)',
      'createSiringAuction(uint256,uint256,uint256,uint256)',
      'breedWithAuto(uint256,uint256)',
      'giveBirth(uint256)',
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
];
