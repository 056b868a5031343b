import { id } from 'ethers';
import { expect, test } from 'vitest';
import { readRevert } from '../../src/chain/minting/mint-contract.ts';

const unauthorized = id('AccessControlUnauthorizedAccount(address,bytes32)').slice(0, 10);
const account = `${'00'.repeat(12)}${'ab'.repeat(20)}`;

test('names an error of our contract with its values', () => {
  expect(readRevert(`${unauthorized}${account}${'cd'.repeat(32)}`)).toMatch(
    /^AccessControlUnauthorizedAccount\(account 0xabab.*, neededRole 0x(cd){32}\)$/i,
  );
});

test.each([
  ['nothing', '0x'],
  ['less than a selector', '0x12'],
  ['a selector that nobody knows', '0x12345678'],
  ['less than the error has', `${unauthorized}${account}`],
  ['more than an address', `${unauthorized}${'ff'.repeat(64)}`],
])('names none where a contract reverts with %s, and does not throw', (_what, data) => {
  expect(readRevert(data)).toBeUndefined();
});
