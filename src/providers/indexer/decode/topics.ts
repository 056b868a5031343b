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
  metadataUpdate: id('MetadataUpdate(uint256)'),
  batchMetadataUpdate: id('BatchMetadataUpdate(uint256,uint256)'),
  uri: id('URI(string,uint256)'),
  punkAssign: id('Assign(address,uint256)'),
  punkTransfer: id('PunkTransfer(address,address,uint256)'),
  punkBought: id('PunkBought(uint256,uint256,address,address)'),
  beforeExecution: id('BeforeExecution()'),
  userOperation: id('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)'),
  nativeMint: id('Mint(address,uint256)'),
  stateSync: id('Deposit(address,address,uint256,uint256,uint256)'),
  precompileMint: id('NativeCoinMinted(address,address,uint256)'),
  compoundBorrow: id('Borrow(address,uint256,uint256,uint256)'),
} as const;

/**
 * The address at which EIP-7708 logs every movement of the native asset, with the topic of an ERC-20 transfer. It is
 * no token. Its logs repeat the traces, and replace them where there are none.
 */
export const nativeLogEmitter = '0xfffffffffffffffffffffffffffffffffffffffe';

/** Polygon: the contract that pays out native assets from the first layer. */
export const stateSyncContract = '0x0000000000000000000000000000000000001010';

/** Subnet-EVM: the precompile that mints the native asset. */
export const mintingPrecompile = '0x0200000000000000000000000000000000000001';
