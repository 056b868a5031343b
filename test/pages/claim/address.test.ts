import { describe, expect, test } from 'vitest';
import { type AddressModule, pageModule } from '../page-modules.ts';
import { wallet, wrongTexts } from './wrong-texts.ts';

const { readAddress, hasChecksum } = (await pageModule('claim/address.js')) as AddressModule;
const nft = { chainId: 31337, contractAddress: '0x5FbDB2315678afecb367f032d93F642f64180aa3' };
const lower = wallet.toLowerCase();
const digits = wallet.slice(2);

describe('an address as people paste it', () => {
  test.each([
    ['as it is', wallet, wallet],
    ['in lower case', lower, lower],
    ['in upper case', `0x${digits.toUpperCase()}`, `0x${digits.toUpperCase()}`],
    ['with 0X', `0X${digits}`, wallet],
    ['without 0x', digits, wallet],
    ['between spaces and line breaks', ` \t${wallet}\r\n`, wallet],
    ['with spaces and line breaks inside', `0x3C44 CdDd\nB6a900fa2b585dd299e03d12FA4293BC`, wallet],
    ['after a no-break space', `\u00A0${wallet}`, wallet],
    ['as EIP-681', `ethereum:${wallet}`, wallet],
    ['as EIP-681 on the network of the NFT', `ethereum:${wallet}@31337`, wallet],
    ['as EIP-681 with the network in hex', `ethereum:${wallet}@0x7a69`, wallet],
    ['as EIP-681 with pay-', `ethereum:pay-${wallet}`, wallet],
    ['as EIP-681 with slashes, in upper case', `ETHEREUM://${wallet}`, wallet],
    ['as CAIP-10', `eip155:31337:${wallet}`, wallet],
  ])('%s is read whole', (_, text, address) => {
    expect(readAddress(text, nft)).toEqual({ address });
  });

  test('is read with any invisible character around and inside it', () => {
    const ranges: [number, number][] = [
      [0x0, 0x20],
      [0x7f, 0xa0],
      [0xad, 0xad],
      [0x200b, 0x200f],
      [0x2028, 0x202f],
      [0x205f, 0x206f],
      [0x3000, 0x3000],
      [0xfe00, 0xfe0f],
      [0xfeff, 0xfeff],
    ];
    for (const [first, last] of ranges) {
      for (let code = first; code <= last; code += 1) {
        const each = String.fromCharCode(code);
        const text = `${each}0x${each}${digits.slice(0, 7)}${each}${digits.slice(7)}${each}`;
        expect([code.toString(16), readAddress(text, nft)]).toEqual([code.toString(16), { address: wallet }]);
      }
    }
  });

  test('on a network that has a short name is read with that name', () => {
    const onPolygon = { ...nft, chainId: 137 };
    for (const text of [`matic:${wallet}`, `eip155:137:${wallet}`, `ethereum:${wallet}@137`]) {
      expect(readAddress(text, onPolygon)).toEqual({ address: wallet });
    }
  });

  test('with letters of both cases has a checksum', () => {
    expect([wallet, lower, `0x${digits.toUpperCase()}`].map(hasChecksum)).toEqual([true, false, false]);
  });
});

describe('what is no address for the NFT', () => {
  // The service knows checksums; the page does not compute them.
  const known = wrongTexts(nft.contractAddress).filter(({ fault }) => fault !== 'addressChecksum');
  test.each(known)('$what is explained', ({ text, fault }) => {
    expect(readAddress(text, nft)).toMatchObject({ fault });
  });

  test('never comes back, not even as a part of what is said', () => {
    for (const { text } of known) {
      const { address, values = {} } = readAddress(text, nft);
      expect(address).toBeUndefined();
      for (const value of Object.values(values)) expect(String(value ?? '').length).toBeLessThan(20);
    }
  });

  test('is explained at once, however long it is', () => {
    const half = 500_000;
    const texts = [`a@${'.'.repeat(half)}@`, `a${'.a'.repeat(half)}!`, '0'.repeat(half), 'ab '.repeat(half)];
    const before = process.cpuUsage();
    for (const text of texts) expect(readAddress(text, nft).address).toBeUndefined();
    // Each takes some 50 ms; a pattern that goes back over what it has read would take half a minute.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  });

  test('is named: the network, the character, how many there are', () => {
    expect(readAddress(`eip155:137:${wallet}`, nft).values).toEqual({ chain: 'Polygon', chainId: 137 });
    expect(readAddress(`ethereum:${wallet}@77`, nft).values).toEqual({ chain: undefined, chainId: 77 });
    expect(readAddress(wallet.replace('900', '9OO'), nft).values).toEqual({ character: 'O' });
    expect(readAddress(`${wallet}77`, nft).values).toEqual({ count: 42 });
  });
});
