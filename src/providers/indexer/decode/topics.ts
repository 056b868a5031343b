import { id } from 'ethers';

/** First topics of the events that the index reads: the hash of each signature. */
export const topics = {
  transfer: id('Transfer(address,address,uint256)'),
  approval: id('Approval(address,address,uint256)'),
  approvalForAll: id('ApprovalForAll(address,address,bool)'),
  transferSingle: id('TransferSingle(address,address,address,uint256,uint256)'),
  transferBatch: id('TransferBatch(address,address,address,uint256[],uint256[])'),
  consecutiveTransfer: id('ConsecutiveTransfer(uint256,uint256,address,address)'),
  deposit: id('Deposit(address,uint256)'),
  withdrawal: id('Withdrawal(address,uint256)'),
  burn: id('Burn(address,uint256)'),
  aaveBorrow: id('Borrow(address,address,address,uint256,uint8,uint256,uint16)'),
  aaveOldBorrow: id('Borrow(address,address,address,uint256,uint256,uint256,uint16)'),
  compoundBorrow: id('Borrow(address,uint256,uint256,uint256)'),
} as const;

/**
 * Where EIP-7708 logs every movement of the native asset, with the topic of an ERC-20 transfer. It is no
 * token: its logs say what traces say, and stand in for them where there are none.
 */
export const nativeLogEmitter = '0xfffffffffffffffffffffffffffffffffffffffe';

/**
 * The wrapped native token of public networks, by chain id. Their deposit and withdrawal events mint and
 * burn; the same topics of any other contract mean anything, so other networks name theirs.
 */
export const wrappedNative: Readonly<Record<string, string>> = {
  '1': '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  '10': '0x4200000000000000000000000000000000000006',
  '56': '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
  '100': '0xe91d153e0b41518a2ce8dd3d7944fa863463a97d',
  '137': '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  '8453': '0x4200000000000000000000000000000000000006',
  '42161': '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
  '43114': '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7',
};
