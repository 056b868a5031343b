import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { encryptKeystoreJson, Interface, SigningKey, Transaction, Wallet } from 'ethers';
import { describe, expect, test } from 'vitest';
import { createKeySigner, openKeystore } from '../../src/chain/minting/key-signer.ts';
import { createMintSigner, limitSigner, readSigned } from '../../src/chain/minting/signer.ts';

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

  test('signs again with nothing changed but the fees', async () => {
    const signer = createKeySigner(wallet.privateKey);
    const first = Transaction.from((await signer.sign(transaction)).raw);
    const again = Transaction.from(
      (await signer.signAgain(first.serialized, { maxFeePerGas: 40n, maxPriorityFeePerGas: 3n })).raw,
    );
    expect([again.maxFeePerGas, again.maxPriorityFeePerGas]).toEqual([40n, 3n]);
    expect([again.data, again.nonce, again.to, again.gasLimit]).toEqual([
      first.data,
      first.nonce,
      first.to,
      first.gasLimit,
    ]);
    expect(again.hash).not.toBe(first.hash);
  });

  test('signs for a network without a base fee', async () => {
    const legacy = { ...transaction, fees: { maxFeePerGas: 9n, maxPriorityFeePerGas: null } };
    const read = Transaction.from((await createKeySigner(wallet.privateKey).sign(legacy)).raw);
    expect([read.type, read.gasPrice]).toEqual([0, 9n]);
  });

  test.each([
    [
      'moves tokens',
      {
        data: new Interface(['function approve(address,uint256)']).encodeFunctionData('approve', [
          recipient,
          1n,
        ]),
      },
    ],
    ['moves money', { data: '0x', value: 1n }],
  ])('refuses what %s', async (_what, more) => {
    const raw = await wallet.signTransaction({
      chainId: 137,
      nonce: 1,
      to: contract,
      gasLimit: 1,
      type: 2,
      ...more,
    });
    await expect(createKeySigner(wallet.privateKey).signAgain(raw, fees)).rejects.toThrow(/and no others/);
  });

  test("refuses another's transaction, and a signature that is not of its key", async () => {
    const other = Wallet.createRandom();
    const { raw } = await createKeySigner(other.privateKey).sign(transaction);
    await expect(async () => createKeySigner(wallet.privateKey).signAgain(raw, fees)).rejects.toThrow(
      /not of/,
    );
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

  test('signs mints on them, again too, and fills nonces', async () => {
    const { raw } = await signer.sign(transaction);
    expect(Transaction.from((await signer.signAgain(raw, fees)).raw).to).toBe(contract);
    const fill = Transaction.from(
      (await signer.signFill({ chainId: '137', nonce: 8n, gasLimit: 21_000n, fees })).raw,
    );
    expect([fill.to, fill.value, fill.data, fill.nonce]).toEqual([wallet.address, 0n, '0x', 8]);
    expect(Transaction.from((await signer.signAgain(fill.serialized, fees)).raw).to).toBe(wallet.address);
  });

  test('refuses another contract and another network, stored or new', async () => {
    const any = createKeySigner(wallet.privateKey);
    const elsewhere = { ...transaction, contract: recipient };
    const other = { ...transaction, chainId: '1' };
    for (const wrong of [elsewhere, other]) {
      await expect(signer.sign(wrong)).rejects.toThrow(/sign/);
      const { raw } = await any.sign(wrong);
      await expect(signer.signAgain(raw, fees)).rejects.toThrow(/sign/);
    }
    const fill = { chainId: '1', nonce: 8n, gasLimit: 21_000n, fees };
    await expect(signer.signFill(fill)).rejects.toThrow(/for network 137, not 1/);
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
      '/nowhere/minter.json cannot be read.',
    );
  });
});
