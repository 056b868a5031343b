import { execFileSync } from 'node:child_process';
import { Contract, ContractFactory, id, JsonRpcProvider, toBeHex, ZeroAddress } from 'ethers';
import { afterAll, describe, expect } from 'vitest';
import artefact from '../../src/chain/contracts/artefacts/TallystickNft.json' with { type: 'json' };
import { isOwnCode } from '../../src/chain/contracts/contract-check.ts';
import { test } from '../support/fixtures.ts';
import { findOldestRelease } from '../support/oldest-release.ts';
import { waitFor } from '../support/wait-for.ts';

let provider: JsonRpcProvider;
let nft: Contract;
let asStranger: Contract;
let serials = 0n;

const person = (n: number) => toBeHex(0xabc0000 + n, 20);
const people = (n: number, from = 0) => Array.from({ length: n }, (_, i) => person(from + i));
/** Ids as the service gives them: the number of an asset above 64 bits of serial. */
const nextId = () => {
  serials += 1n;
  return (7n << 64n) | serials;
};
const nextIds = (n: number) => Array.from({ length: n }, nextId);

test.beforeAll(async ({ chain }) => {
  provider = new JsonRpcProvider(chain.rpcUrl, undefined, { cacheTimeout: -1 });
  const [admin, minter, stranger] = await Promise.all([0, 1, 2].map((n) => provider.getSigner(n)));
  const factory = new ContractFactory(artefact.abi, artefact.bytecode, admin);
  const deployed = await factory.deploy('Tallystick', 'TALLY', await admin?.getAddress());
  const address = await deployed.getAddress();
  const asAdmin = new Contract(address, artefact.abi, admin);
  await done(asAdmin, 'grantRole', id('MINTER_ROLE'), await minter?.getAddress());
  await done(asAdmin, 'setBaseURI', 'https://api.example/metadata/');
  nft = new Contract(address, artefact.abi, minter);
  asStranger = new Contract(address, artefact.abi, stranger);
});

afterAll(async () => {
  provider.destroy();
});

async function done(contract: Contract, method: string, ...args: unknown[]) {
  const transaction = await contract.getFunction(method)(...args);
  // On a busy machine the node answers before it has mined.
  return waitFor(async () => {
    const receipt = await provider.getTransactionReceipt(transaction.hash);
    if (receipt === null) throw new Error('not mined');
    return receipt;
  });
}

describe('minting one', () => {
  test('gives it to its recipient for about 71,000 gas, metadata behind the base address', async () => {
    const token = nextId();
    const { gasUsed } = await done(nft, 'mint', person(1), token);
    expect(Number(gasUsed)).toBeLessThan(71_200);
    expect(await owner(token)).toBe(BigInt(person(1)));
    expect(await nft.getFunction('tokenURI')(token)).toBe(`https://api.example/metadata/${token}`);
  });

  test('refuses a second mint of an id, for ever', async () => {
    const token = nextId();
    await done(nft, 'mint', person(1), token);
    await expect(done(nft, 'mint', person(2), token)).rejects.toThrow(/reverted/);
    expect(artefact.abi.filter((fragment) => /burn/i.test(fragment))).toEqual([]);
  });

  test('refuses everyone but a minter', async () => {
    await expect(done(asStranger, 'mint', person(1), nextId())).rejects.toThrow(/reverted/);
    await expect(done(asStranger, 'mintBatch', [person(1)], [nextId()])).rejects.toThrow(/reverted/);
    await expect(done(nft, 'setBaseURI', 'https://other.example/')).rejects.toThrow(/reverted/);
    await expect(done(asStranger, 'refreshMetadata', 1n, 2n)).rejects.toThrow(/reverted/);
  });
});

describe('minting a batch', () => {
  test('gives a hundred to as many people for about 48,500 gas each', async () => {
    const ids = nextIds(100);
    const { gasUsed, logs } = await done(nft, 'mintBatch', people(100, 100), ids);
    expect(Number(gasUsed) / 100).toBeLessThan(48_503);
    expect(logs).toHaveLength(100);
    expect(await owner(ids[99])).toBe(BigInt(person(199)));
  });

  test('passes over ids that exist, whoever has them, and mints the rest', async () => {
    const [first = 0n, second = 0n, third = 0n] = nextIds(3);
    await done(nft, 'mint', person(1), second);
    const { logs } = await done(nft, 'mintBatch', people(3, 10), [first, second, third]);
    expect(logs.map(({ topics }) => BigInt(topics[3] ?? 0))).toEqual([first, third]);
    expect(await owner(second)).toBe(BigInt(person(1)));
  });

  test('mints an id once that stands in it twice', async () => {
    const token = nextId();
    const { logs } = await done(nft, 'mintBatch', people(2, 20), [token, token]);
    expect(logs).toHaveLength(1);
    expect(await owner(token)).toBe(BigInt(person(20)));
  });

  test('fits 340 into the gas that one transaction may use', async () => {
    const { gasUsed } = await done(nft, 'mintBatch', people(340, 1_000), nextIds(340));
    expect(Number(gasUsed)).toBeLessThan(16_777_216);
  });

  test('refuses lists of different lengths and the zero address', async () => {
    await expect(done(nft, 'mintBatch', people(2), [nextId()])).rejects.toThrow(/reverted/);
    await expect(done(nft, 'mintBatch', [ZeroAddress], [nextId()])).rejects.toThrow(/reverted/);
  });

  test('does not call recipients that are contracts', async () => {
    const token = nextId();
    await done(nft, 'mintBatch', [await nft.getAddress()], [token]);
    expect(await owner(token)).toBe(BigInt(await nft.getAddress()));
  });
});

const last = findOldestRelease();

test.skipIf(typeof last === 'string')('is known as ours as the oldest release compiled it', () => {
  const { commit } = last as Exclude<typeof last, string>; // else it is skipped
  const file = `${commit}:src/chain/contracts/artefacts/TallystickNft.json`;
  const { bytecode }: { bytecode: string } = JSON.parse(execFileSync('git', ['show', file]).toString());
  const code = `0x${bytecode.slice(bytecode.indexOf('f3fe') + 4)}`;
  expect([code, `${code}00`].map(isOwnCode)).toEqual([true, false]);
});

describe('metadata', () => {
  test.each([
    ['the admin', 0],
    ['a minter', 1],
  ])('is announced by %s as ERC-4906 wants it, not at a mint', async (_who, account) => {
    const token = nextId();
    const minted = await done(nft, 'mint', person(1), token);
    expect(minted.logs).toHaveLength(1);
    const caller = nft.connect(await provider.getSigner(account)) as Contract; // connect keeps the class
    const one = await done(caller, 'refreshMetadata', token, token);
    const range = await done(caller, 'refreshMetadata', 1n, token);
    const names = [one, range].map(({ logs }) => logs[0] && nft.interface.parseLog(logs[0])?.name);
    expect(names).toEqual(['MetadataUpdate', 'BatchMetadataUpdate']);
  });

  test.each([
    ['ERC-165', '0x01ffc9a7'],
    ['ERC-721', '0x80ac58cd'],
    ['ERC-721 metadata', '0x5b5e139f'],
    ['ERC-4906', '0x49064906'],
    ['access control', '0x7965db0b'],
  ])('says that it supports %s', async (_, interfaceId) => {
    expect(await nft.getFunction('supportsInterface')(interfaceId)).toBe(true);
  });
});

async function owner(token: bigint | undefined): Promise<bigint> {
  return BigInt(await nft.getFunction('ownerOf')(token));
}
