import { Wallet } from 'ethers';
import { describe, expect, test } from 'vitest';
import { authorizationsOf } from '../../src/providers/indexer/decode/delegations.ts';
import { readBlock } from '../../src/providers/indexer/decode/raw-block.ts';
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
    const { block } = rawAnswers({ transaction: { to: token, chainId: '0x1', authorizationList } });
    let turns = 0;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const authorizations = await inTurns(authorizationsOf(readBlock(block).transactions));
    clearImmediate(counting);
    expect(authorizations).toHaveLength(250);
    expect(turns).toBeGreaterThan(1);
  });
});
