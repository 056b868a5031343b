import { describe, expect, test } from 'vitest';
import { broadcastFault, judgeBroadcast, refusalOf } from '../../src/chain/minting/broadcast-error.ts';

const ether = 10n ** 18n;

describe('what a node says to a transaction', () => {
  test.each([
    ['geth', 'already known', 'known'],
    ['geth', 'known transaction: 0x7f65', 'known'],
    ['anvil', 'transaction already imported', 'known'],
    ['Besu', 'Known transaction', 'known'],
    ['OpenEthereum', 'Transaction with the same hash was already imported.', 'known'],
    ['Nethermind', 'AlreadyKnown', 'known'],
    ['Nethermind', 'OwnNonceAlreadyUsed', 'known'],
    ['Moonbeam', 'submit transaction to pool failed: Pool(AlreadyImported)', 'known'],
    ['geth', 'nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
    ['ethers', 'nonce has already been used', 'nonce_used'],
    ['Besu', 'Nonce too low', 'nonce_used'],
    ['OpenEthereum', 'Transaction nonce is too low. Try incrementing the nonce.', 'nonce_used'],
    ['Arbitrum', 'invalid transaction nonce', 'nonce_used'],
    ['Nethermind', 'OldNonce, Current nonce: 22, nonce of rejected tx: 17', 'nonce_used'],
    ['Moonbeam', 'submit transaction to pool failed: Pool(Stale)', 'nonce_used'],
    ['geth', 'replacement transaction underpriced', 'underpriced'],
    ['Besu', 'Replacement transaction underpriced', 'underpriced'],
    ['Nethermind', 'ReplacementNotAllowed', 'underpriced'],
    ['geth', 'transaction underpriced: gas tip cap 1', 'underpriced'],
    ['geth', 'max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1', 'underpriced'],
    ['Besu', 'Gas price below configured minimum gas price', 'underpriced'],
    ['Nethermind', 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 50, BaseFee: 100', 'underpriced'],
    ['Nethermind', 'FeeTooLowToCompete', 'underpriced'],
    ['Arbitrum', 'gas price too low', 'underpriced'],
    ['geth', 'insufficient funds for gas * price + value: balance 0, tx cost 12', 'no_funds'],
    ['ethers', 'insufficient funds for intrinsic transaction cost; insufficient funds', 'no_funds'],
    ['Besu', 'Upfront cost exceeds account balance', 'no_funds'],
    ['Nethermind', 'InsufficientFunds, Account balance: 4740, cumulative cost: 22019', 'no_funds'],
    ['Arbitrum', 'not enough funds for gas', 'no_funds'],
    ['geth', 'txpool is full', 'unknown'],
    ['geth', 'nonce too high', 'unknown'],
    ['Nethermind', 'NonceGap, Future nonce. Expected nonce: 10', 'unknown'],
    ['OpenEthereum', 'There are too many transactions in the queue. Try increasing the fee.', 'unknown'],
    ['any', 'Internal error', 'unknown'],
  ])('%s: %s means %s', (_client, message, fault) => {
    expect(broadcastFault(message)).toBe(fault);
  });

  test.each([
    ['geth', 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)', 'fee_cap', ether],
    ['geth of Fantom', 'tx fee (1.10 FTM) exceeds the configured cap (1.00 FTM)', 'fee_cap', ether],
    ['reth', 'tx fee (12 wei) exceeds the configured cap (10 wei)', 'fee_cap', 10n],
    ['Erigon', 'tx fee (0.30 ether) exceeds the configured cap (0.25 ether)', 'fee_cap', ether / 4n],
    ['Besu', 'Transaction fee cap exceeded', 'fee_cap', undefined],
    ['geth', 'exceeds block gas limit', 'gas_limit', undefined],
    ['Besu', 'Transaction gas limit exceeds block gas limit', 'gas_limit', undefined],
    ['geth', 'transaction gas limit too high (cap: 16777216, tx: 20000000)', 'gas_limit', 16_777_216n],
    ['Nethermind', 'GasLimitExceeded, Gas limit: 100, gas limit of rejected tx: 150', 'gas_limit', 100n],
    [
      'OpenEthereum',
      'Transaction cost exceeds current gas limit. Limit: 50, got: 100.',
      'gas_limit',
      undefined,
    ],
    ['geth', 'intrinsic gas too low: gas 21000, minimum needed 21484', 'gas_too_low', undefined],
    ['Besu', 'Intrinsic gas exceeds gas limit', 'gas_too_low', undefined],
    ['geth', 'oversized data: transaction size 131073, limit 131072', 'too_large', undefined],
    ['Nethermind', 'MaxTxSizeExceeded', 'too_large', undefined],
    ['geth', 'transaction type not supported', 'type', undefined],
    ['Nethermind', 'NotSupportedTxType', 'type', undefined],
    ['geth', 'invalid sender', 'invalid', undefined],
    ['Nethermind', 'SenderIsContract', 'invalid', undefined],
  ])('%s: %s refuses it for good, for its %s', (_client, message, kind, bound) => {
    expect(broadcastFault(message)).toBe('refused');
    expect(refusalOf(message)).toEqual({ kind, bound });
  });

  test('names the least priority fee where it has one', () => {
    const message = 'transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000';
    expect(refusalOf(message)).toEqual({ kind: 'tip_too_low', bound: 25_000_000_000n });
  });
});

describe('what several nodes say', () => {
  const refused = { outcome: 'refused', words: 'exceeds block gas limit' } as const;

  test('is a refusal only when all of them refuse', () => {
    expect(judgeBroadcast([refused, refused])).toBe(refused);
    for (const outcome of ['sent', 'known', 'underpriced', 'unknown'] as const) {
      expect(judgeBroadcast([refused, { outcome, words: '' }]).outcome).toBe(outcome);
    }
  });
});
