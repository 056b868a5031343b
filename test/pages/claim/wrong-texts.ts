/** A wallet that the texts are made of. Its letters have the right checksum. */
export const wallet = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const digits = wallet.slice(2);
const hash = '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060';

type WrongText = {
  readonly what: string;
  readonly text: string;
  /** The name of what the page says. */
  readonly fault: string;
};

/** What people paste in place of their wallet's address, for an NFT of this contract on a local chain. */
export const wrongTexts = (contractAddress: string): readonly WrongText[] => [
  { what: 'nothing', text: '', fault: 'addressEmpty' },
  {
    what: 'only invisible characters',
    text: ' \u00A0\u200B\u2060\uFEFF\u00AD\u202E\u3000',
    fault: 'addressEmpty',
  },
  { what: 'the hash of a transaction', text: hash, fault: 'addressHash' },
  { what: '64 digits, as of a private key', text: hash.slice(2), fault: 'addressHash' },
  {
    what: 'a hash that was broken over two lines',
    text: `${hash.slice(0, 30)} ${hash.slice(30)}`,
    fault: 'addressHash',
  },
  { what: 'a link to a transaction', text: `https://etherscan.io/tx/${hash}`, fault: 'addressHash' },
  {
    what: 'a recovery phrase',
    text: 'test test test test test test test test test test test junk',
    fault: 'addressPhrase',
  },
  {
    what: 'a recovery phrase with numbers',
    text: '1. test 2. test 3. test 4. test 5. test 6. test 7. test 8. test 9. test 10. test 11. test 12. junk',
    fault: 'addressPhrase',
  },
  { what: 'a name', text: 'vitalik.eth', fault: 'addressName' },
  { what: 'a name below a name', text: 'pay.my-shop.eth', fault: 'addressName' },
  { what: 'a name in a payment address', text: 'ethereum:vitalik.eth', fault: 'addressName' },
  { what: 'an e-mail address', text: 'someone@example.com', fault: 'addressMail' },
  { what: '41 digits', text: `${wallet}7`, fault: 'addressLong' },
  { what: '39 digits', text: wallet.slice(0, -1), fault: 'addressShort' },
  { what: 'an address that was shortened', text: '0x3C44…93BC', fault: 'addressCharacter' },
  { what: 'a wrong checksum', text: `${wallet.slice(0, -1)}c`, fault: 'addressChecksum' },
  { what: 'another network, as CAIP-10', text: `eip155:137:${wallet}`, fault: 'addressOtherChain' },
  { what: 'another network, as EIP-681', text: `ethereum:${wallet}@1`, fault: 'addressOtherChain' },
  { what: 'another network, as EIP-3770', text: `eth:${wallet}`, fault: 'addressOtherChain' },
  { what: 'an unknown network', text: `eip155:987654321:${wallet}`, fault: 'addressOtherChain' },
  {
    what: 'a network with a number that is none',
    text: `eip155:${'9'.repeat(400)}:${wallet}`,
    fault: 'addressSurrounded',
  },
  { what: 'a request for a payment', text: `ethereum:${wallet}?value=1e18`, fault: 'addressPayment' },
  {
    what: 'a call of a token',
    text: `ethereum:${wallet}/transfer?address=${wallet}&uint256=1`,
    fault: 'addressPayment',
  },
  {
    what: 'an address of Bitcoin',
    text: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    fault: 'addressOtherCoin',
  },
  {
    what: 'an old address of Bitcoin',
    text: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    fault: 'addressOtherCoin',
  },
  { what: 'a Bitcoin link', text: 'bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', fault: 'addressOtherCoin' },
  {
    what: 'an address of Solana',
    text: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
    fault: 'addressOtherCoin',
  },
  { what: 'two addresses', text: `${wallet} ${wallet.toLowerCase()}`, fault: 'addressSeveral' },
  { what: 'an address and a word', text: `${wallet} (mine)`, fault: 'addressSurrounded' },
  { what: 'an address and letters that could belong to it', text: `${wallet} abc`, fault: 'addressLong' },
  { what: 'a word and an address', text: `Wallet: ${wallet}`, fault: 'addressSurrounded' },
  { what: 'an address in quotes', text: `"${wallet}"`, fault: 'addressSurrounded' },
  { what: 'a link to an address', text: `https://etherscan.io/address/${wallet}`, fault: 'addressLink' },
  { what: "the NFT's own contract", text: contractAddress, fault: 'addressContract' },
  {
    what: "the NFT's own contract in lower case",
    text: contractAddress.toLowerCase(),
    fault: 'addressContract',
  },
  { what: 'the zero address', text: `0x${'0'.repeat(40)}`, fault: 'addressReserved' },
  { what: 'a precompile', text: `0x${'1'.padStart(40, '0')}`, fault: 'addressReserved' },
  {
    what: 'the address that tokens are burnt to',
    text: `0x${'dEaD'.padStart(40, '0')}`,
    fault: 'addressReserved',
  },
  { what: 'an ICAP address', text: 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS', fault: 'addressOld' },
  { what: 'the letter O in place of a zero', text: wallet.replace('900', '9OO'), fault: 'addressCharacter' },
  { what: 'the letter O at the beginning', text: `O${wallet.slice(1)}`, fault: 'addressCharacter' },
  { what: 'a Cyrillic letter', text: wallet.replace('a', 'а'), fault: 'addressCharacter' },
  {
    what: 'digits of full width',
    text: `0x${[...digits].map((digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)).join('')}`,
    fault: 'addressCharacter',
  },
  { what: 'some other words', text: 'my wallet', fault: 'addressNone' },
  { what: 'a number', text: '123456', fault: 'addressNone' },
];
