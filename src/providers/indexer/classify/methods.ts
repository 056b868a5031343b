import { id } from 'ethers';
import { deposits, labelled, withdrawals } from './method-list.ts';

const selectorOf = (signature: string) => id(signature).slice(0, 10);
const names = new Map(
  [...labelled.flatMap(({ signatures }) => signatures), ...deposits, ...withdrawals].map((text) => [
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
