import { Wallet } from 'ethers';
import { describe, expect, test } from 'vitest';
import { creditRulesOf } from '../../src/providers/indexer/decode/credit-rules.ts';
import { decodeSteps } from '../../src/providers/indexer/decode/decode-block.ts';
import { readBlock, readReceipt } from '../../src/providers/indexer/decode/raw-block.ts';
import { inTurns } from '../../src/providers/indexer/decode/turns.ts';
import { bob, rawAnswers, token } from './raw-answers.ts';

describe('a block of many delegations (EIP-7702)', () => {
  test('lets others go on while their signatures are read', async () => {
    const signer = new Wallet(`0x${'1'.repeat(64)}`);
    const { address, nonce, chainId, signature } = signer.authorizeSync({
      address: bob,
      nonce: 1,
      chainId: 1,
    });
    const { r, s, yParity } = signature;
    const one = { address, nonce: `0x${nonce}`, chainId: `0x${chainId}`, r, s, yParity: `0x${yParity}` };
    const authorizationList = Array.from({ length: 250 }, () => one);
    const { block, receipts } = rawAnswers({ transaction: { to: token, chainId: '0x1', authorizationList } });
    const source = { block: readBlock(block), receipts: receipts.map(readReceipt), traces: undefined };
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const { transactions } = await inTurns(decodeSteps(source, new Set(), creditRulesOf('1')));
    clearImmediate(counting);
    expect(transactions[0]?.delegations).toHaveLength(250);
    expect(turns).toBeGreaterThan(1);
  });
});
