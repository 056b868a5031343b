import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encryptKeystoreJson, Interface, SigningKey, Transaction, Wallet } from 'ethers';
import { describe, expect, test } from 'vitest';
import { createKeySigner, openKeystore } from '../../src/chain/minting/key-signer.ts';
import { createMintSigner, limitSigner, readSigned, replacementOf } from '../../src/chain/minting/signer.ts';

const wallet = new Wallet('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d');
const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const fees = { maxFeePerGas: 30n, maxPriorityFeePerGas: 2n };
const transaction = {
  chainId: '137',
  nonce: 7n,
  contract,
  mints: [
    { recipient, tokenId: '18446744073709551617' },
    { recipient: contract, tokenId: '340282366920938463463374607431768211455' },
  ],
  gasLimit: 89_000n,
  fees,
};

const refresh = { from: '18446744073709551616', to: '36893488147419103231' };
const refreshData = new Interface(['function refreshMetadata(uint256,uint256)']).encodeFunctionData(
  'refreshMetadata',
  [refresh.from, refresh.to],
);

describe('a signer of mints', () => {
  test('signs a batch for the contract, with the hash that it will be mined with', async () => {
    const { hash, raw } = await createKeySigner(wallet.privateKey).sign(transaction);
    const read = Transaction.from(raw);
    expect([read.hash, read.from, read.to, read.nonce, read.chainId]).toEqual([
      hash,
      wallet.address,
      contract,
      7,
      137n,
    ]);
    const call = new Interface(['function mintBatch(address[],uint256[])']).parseTransaction(read);
    const ids = [18446744073709551617n, 340282366920938463463374607431768211455n];
    expect(call?.args.toArray(true)).toEqual([[recipient, contract], ids]);
    expect([read.maxFeePerGas, read.maxPriorityFeePerGas, read.value]).toEqual([30n, 2n, 0n]);
  });

  test('signs a report of changed metadata, which mints nothing', async () => {
    const { mints, ...rest } = transaction;
    const { raw } = await createKeySigner(wallet.privateKey).sign({ ...rest, refresh });
    expect(Transaction.from(raw)).toMatchObject({ to: contract, data: refreshData, value: 0n });
    expect(readSigned(raw)).toEqual({ contract, gasLimit: 89_000n, mints: [], refresh });
    expect(mints).toHaveLength(2);
  });

  test('signs for a network without a base fee', async () => {
    const legacy = { ...transaction, fees: { maxFeePerGas: 9n, maxPriorityFeePerGas: null } };
    const read = Transaction.from((await createKeySigner(wallet.privateKey).sign(legacy)).raw);
    expect([read.type, read.gasPrice]).toEqual([0, 9n]);
  });

  describe('replaces a transaction at its nonce', () => {
    const signer = createKeySigner(wallet.privateKey);
    const [one, other] = transaction.mints.map(({ tokenId }) => tokenId);
    const higher = { gasLimit: 80_000n, fees: { maxFeePerGas: 40n, maxPriorityFeePerGas: 3n } };
    const replace = async (raw: string, ...tokenIds: (string | undefined)[]) => {
      const wanted = { ...higher, tokenIds: tokenIds.map(String) };
      return Transaction.from((await signer.sign(replacementOf(raw, signer.address, wanted))).raw);
    };

    test('with its mints or some of them, or with nothing but the nonce', async () => {
      const { raw } = await signer.sign(transaction);
      const all = await replace(raw, one, other);
      expect([all.nonce, all.chainId, all.to, all.data]).toEqual([
        7,
        137n,
        contract,
        Transaction.from(raw).data,
      ]);
      expect([all.gasLimit, all.maxFeePerGas, all.maxPriorityFeePerGas]).toEqual([80_000n, 40n, 3n]);
      expect(readSigned((await replace(raw, other)).serialized).mints).toEqual(transaction.mints.slice(1));
      const none = await replace(raw);
      expect([none.nonce, none.to, none.data, none.value]).toEqual([7, wallet.address, '0x', 0n]);
      expect((await replace(none.serialized)).data).toBe('0x');
    });

    test('with the same report of changed metadata', async () => {
      const { raw } = await signer.sign({ ...transaction, refresh });
      const again = await replace(raw);
      expect([again.nonce, again.to, again.maxFeePerGas]).toEqual([7, contract, 40n]);
      expect(again.data).toBe(Transaction.from(raw).data);
      await expect(replace(raw, one)).rejects.toThrow(/nothing that the transaction does not/);
    });

    test('with no other mint', async () => {
      const { raw } = await signer.sign({ ...transaction, mints: transaction.mints.slice(1) });
      await expect(replace(raw, one, other)).rejects.toThrow(/nothing that the transaction does not/);
      const { serialized } = await replace(raw);
      await expect(replace(serialized, other)).rejects.toThrow(/nothing that the transaction does not/);
    });

    test.each([
      ['calls something else', { data: `0x095ea7b3${'0'.repeat(128)}` }],
      ['reports more than a range', { data: `${refreshData}00` }],
      ['creates a contract', { to: null, data: '0x6001' }],
    ])('but not one that %s', async (_what, more) => {
      const plain = { chainId: 137, nonce: 1, to: contract, gasLimit: 1, type: 2, data: '0x' };
      await expect(replace(await wallet.signTransaction({ ...plain, ...more }))).rejects.toThrow(
        /no batch of mints/,
      );
    });

    test("but not another's", async () => {
      const { raw } = await createKeySigner(Wallet.createRandom().privateKey).sign(transaction);
      await expect(replace(raw, one)).rejects.toThrow(/not of/);
    });
  });

  test('refuses a signature that is not of its key', async () => {
    const other = Wallet.createRandom();
    const key = new SigningKey(other.privateKey);
    const liar = createMintSigner({
      address: wallet.address,
      signDigest: async (digest) => key.sign(digest),
    });
    await expect(liar.sign(transaction)).rejects.toThrow(/signature is not of/);
  });
});

describe('a signer that is kept to a network and its contracts', () => {
  const signer = limitSigner(createKeySigner(wallet.privateKey), {
    chainId: '137',
    allows: async (address) => address === contract,
  });

  test('signs mints on them, and fills nonces', async () => {
    const { raw } = await signer.sign(transaction);
    expect(Transaction.from(raw).to).toBe(contract);
    const fill = Transaction.from(
      (await signer.sign({ chainId: '137', nonce: 8n, gasLimit: 21_000n, fees })).raw,
    );
    expect([fill.to, fill.value, fill.data, fill.nonce]).toEqual([wallet.address, 0n, '0x', 8]);
  });

  test('refuses another contract and another network', async () => {
    const elsewhere = { ...transaction, contract: recipient };
    const other = { ...transaction, chainId: '1' };
    for (const wrong of [elsewhere, other, { ...elsewhere, refresh }, { ...other, refresh }]) {
      await expect(signer.sign(wrong)).rejects.toThrow(/sign/);
    }
    const fill = { chainId: '1', nonce: 8n, gasLimit: 21_000n, fees };
    await expect(signer.sign(fill)).rejects.toThrow(/for network 137, not 1/);
  });

  test('reads what it signed', async () => {
    const { raw } = await signer.sign(transaction);
    const { contract: to, gasLimit, mints } = readSigned(raw);
    expect([to, gasLimit, mints]).toEqual([contract, 89_000n, transaction.mints]);
  });
});

describe('a keystore', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'keystore-'));
  const file = (name: string, text: string) => {
    writeFileSync(path.join(directory, name), text);
    return path.join(directory, name);
  };
  const keystore = async () =>
    // The weakest scrypt there is: the test is not about that.
    file('minter.json', await encryptKeystoreJson(wallet, 'hunter2', { scrypt: { N: 2, r: 8, p: 1 } }));

  test('opens with its password, with or without a line feed behind it', async () => {
    const path = await keystore();
    for (const text of ['hunter2', 'hunter2\n', 'hunter2\r\n']) {
      expect((await openKeystore(path, file('password', text))).address).toBe(wallet.address);
    }
  });

  test('does not open with another, and the error tells neither', async () => {
    const opening = openKeystore(await keystore(), file('wrong', 'hunter3'));
    await expect(opening).rejects.toThrow(/cannot be opened/);
    await expect(opening).rejects.not.toThrow(/hunter/);
  });

  test('that is not there is named', async () => {
    await expect(openKeystore('/nowhere/minter.json', file('password', 'x'))).rejects.toThrow(
      '/nowhere/minter.json cannot be read (ENOENT).',
    );
  });
});
