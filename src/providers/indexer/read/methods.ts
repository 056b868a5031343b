import { id } from 'ethers';

const signatures = [
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
  'burn(uint256)',
  'multicall(bytes[])',
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)',
  'swapExactETHForTokens(uint256,address[],address,uint256)',
  'swapExactTokensForETH(uint256,uint256,address[],address,uint256)',
  'execute(bytes,bytes[],uint256)',
];
const deposits = [
  'deposit()',
  'deposit(uint256)',
  'deposit(uint256,address)',
  'deposit(address,uint256)',
  'stake()',
  'stake(uint256)',
  'supply(address,uint256,address,uint16)',
];
const withdrawals = [
  'withdraw()',
  'withdraw(uint256)',
  'withdraw(address,uint256)',
  'withdraw(address,uint256,address)',
  'withdraw(uint256,address,address)',
  'unstake(uint256)',
  'redeem(uint256)',
  'redeem(uint256,address,address)',
];

const selectorOf = (signature: string) => id(signature).slice(0, 10);
const names = new Map(
  [...signatures, ...deposits, ...withdrawals].map((text) => [
    selectorOf(text),
    text.slice(0, text.indexOf('(')),
  ]),
);
const depositSelectors = new Set(deposits.map(selectorOf));
const withdrawalSelectors = new Set(withdrawals.map(selectorOf));

/** The name of a widely used method; null for any other. */
export function methodName(selector: string | null): string | null {
  return selector === null ? null : (names.get(selector) ?? null);
}

/** Whether the method deposits something into a contract. */
export function isDeposit(selector: string | null): boolean {
  return selector !== null && depositSelectors.has(selector);
}

/** Whether the method withdraws something from a contract. */
export function isWithdrawal(selector: string | null): boolean {
  return selector !== null && withdrawalSelectors.has(selector);
}
