/** An object of the upstream's JSON. */
export type Payload = Readonly<Record<string, unknown>>;

// All data are invented, in the forms that the upstream documents and that were observed live.
export const wallet = '0xa11ce00000000000000000000000000000000001';
export const friend = '0xb0b0000000000000000000000000000000000002';
export const token = '0xc01d000000000000000000000000000000000003';
const collection = '0xa27000000000000000000000000000000000d004';
const zero = `0x${'0'.repeat(40)}`;

const wide = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
const logo = 'https://cdn.example/logo.png';
const noLabels = { from_address_label: null, to_address_label: null };

/** A transaction in the form of 2025: no input, a fee, the contract address of a creation. */
export function transaction(number: number, changes: Payload = {}): Payload {
  return {
    hash: wide(number),
    nonce: String(number),
    transaction_index: '93',
    from_address: wallet,
    to_address: friend,
    value: '0',
    gas: '65000',
    gas_price: '1500000000',
    receipt_cumulative_gas_used: '15901762',
    receipt_gas_used: '52140',
    receipt_contract_address: null,
    receipt_status: '1',
    block_timestamp: new Date(Date.UTC(2027, 0, 1) + number * 12_000).toISOString(),
    block_number: String(20_000_000 + number),
    block_hash: wide(20_000_000 + number),
    transaction_fee: '0.00007821',
    method_label: null,
    nft_transfers: [],
    erc20_transfers: [],
    native_transfers: [],
    summary: `Interacted with 0xb0...0002`,
    possible_spam: false,
    category: 'contract interaction',
    ...changes,
  };
}

export function nativeTransfer(changes: Payload = {}): Payload {
  return {
    from_address: wallet,
    to_address: friend,
    value: '500000000000000',
    value_formatted: '0.0005',
    direction: 'send',
    internal_transaction: false,
    token_symbol: 'ETH',
    token_logo: logo,
    ...changes,
  };
}

/** A token transfer in the form of 2024: labels that are null, no timestamp. */
export function tokenTransfer(changes: Payload = {}): Payload {
  return {
    token_name: 'Oak Coin',
    token_symbol: 'OAK',
    token_logo: logo,
    token_decimals: '6',
    from_address: friend,
    to_address: wallet,
    ...noLabels,
    address: token,
    log_index: 116,
    value: '1300000000',
    possible_spam: false,
    verified_contract: true,
    direction: 'receive',
    value_formatted: '1300',
    ...changes,
  };
}

export function nftTransfer(changes: Payload = {}): Payload {
  return {
    token_address: collection,
    token_id: '41',
    from_address: zero,
    to_address: wallet,
    value: '0',
    amount: '1',
    contract_type: 'ERC721',
    transaction_type: 'Single',
    log_index: 7,
    operator: null,
    possible_spam: false,
    verified_collection: true,
    direction: 'receive',
    collection_logo: null,
    collection_banner_image: null,
    ...changes,
  };
}

/** A history with several kinds of records, oldest first. The fourth and the fifth share a block. */
export const history: readonly Payload[] = [
  transaction(1, {
    from_address: friend,
    to_address: wallet,
    value: '500000000000000',
    native_transfers: [nativeTransfer({ from_address: friend, to_address: wallet, direction: 'receive' })],
    category: 'receive',
    summary: 'Received 0.0005 ETH from 0xb0...0002',
  }),
  transaction(2, { to_address: null, receipt_contract_address: token, summary: 'Created a contract' }),
  transaction(3, {
    from_address: friend,
    from_address_label: null,
    to_address_label: null,
    input: '',
    erc20_transfers: [tokenTransfer()],
    category: 'token receive',
    summary: 'Received 1,300 OAK from 0xb0...0002',
  }),
  transaction(4, {
    to_address: token,
    to_address_entity: 'Oak Bank',
    to_address_entity_logo: logo,
    erc20_transfers: [
      tokenTransfer({
        from_address: wallet,
        to_address: friend,
        to_address_entity: 'Bob & Sons',
        to_address_entity_logo: logo,
        to_address_label: 'Bob: till',
        block_timestamp: '2027-01-01T00:00:48.000Z',
        direction: 'send',
      }),
    ],
    category: 'token send',
    summary: 'Sent 1,300 OAK to 0xb0...0002',
  }),
  transaction(5, {
    ...inBlockOf(4),
    transaction_index: '94',
    nft_transfers: [nftTransfer(), nftTransfer({ token_id: '42', log_index: 8 })],
    category: 'mint',
    summary: 'Minted 2 NFTs',
  }),
  transaction(6, {
    to_address: friend,
    erc20_transfers: [tokenTransfer({ from_address: wallet, to_address: friend, direction: 'send' })],
    native_transfers: [
      nativeTransfer({
        from_address: friend,
        to_address: wallet,
        direction: 'receive',
        internal_transaction: true,
      }),
    ],
    nft_transfers: [
      nftTransfer({ contract_type: 'ERC1155', operator: friend, amount: '5', token_name: 'Casks' }),
    ],
    category: 'token swap',
    summary: 'Swapped 1,300 OAK for 0.0005 ETH',
    synced_at: 20_000_900,
  }),
];

function inBlockOf(number: number): Payload {
  const { block_number, block_hash, block_timestamp } = transaction(number);
  return { block_number, block_hash, block_timestamp };
}

/** An NFT in the form of 2023 and later. */
export function nft(id: number, changes: Payload = {}): Payload {
  return {
    token_address: collection,
    token_id: String(id),
    owner_of: wallet,
    block_number: String(20_000_000 + id),
    block_number_minted: '20000005',
    token_hash: 'f7d53f87dc31367e148b2ec957cb585b',
    amount: '1',
    possible_spam: false,
    contract_type: 'ERC721',
    name: 'Casks',
    symbol: 'CASK',
    token_uri: `https://cask.example/${id}`,
    metadata: `{"name":"Cask ${id}"}`,
    last_token_uri_sync: '2027-01-02T03:04:05.678Z',
    last_metadata_sync: '2027-01-02T03:04:05.678Z',
    minter_address: friend,
    verified_collection: true,
    ...changes,
  };
}

/** An NFT list with one entry of every kind. */
export const nfts: readonly Payload[] = [
  nft(41, {
    normalized_metadata: {
      name: 'Cask 41',
      description: null,
      animation_url: null,
      external_link: null,
      image: 'ipfs://cask/41.png',
      attributes: [
        {
          trait_type: 'Wood',
          value: 'Oak',
          display_type: null,
          max_value: null,
          trait_count: 0,
          order: null,
        },
      ],
    },
    media: { mimetype: 'image/png', status: 'success', updatedAt: '2027-01-02T03:04:05.678Z' },
    rarity_rank: 3,
    rarity_percentage: 0.5,
    rarity_label: 'Top 1%',
    floor_price: '0.1',
    floor_price_usd: '300',
    floor_price_currency: 'eth',
    last_sale: null,
  }),
  nft(42, { name: null, symbol: null, token_uri: null, metadata: null, normalized_metadata: null }),
  // The form of 2022: checksums in addresses, no spam flag.
  {
    token_address: '0xc2a7000000000000000000000000000000000D05',
    token_id: '7',
    amount: '5',
    owner_of: wallet.toUpperCase().replace('0X', '0x'),
    token_hash: null,
    block_number_minted: null,
    block_number: '12274864',
    contract_type: 'ERC1155',
    name: 'Tallies',
    symbol: 'TALLY',
    token_uri: null,
    metadata: null,
    synced_at: '2027-01-02T03:04:05.678Z',
    last_token_uri_sync: null,
    last_metadata_sync: null,
    minter_address: "ERC1155 tokens don't have a single minter",
  },
  nft(3931, { contract_type: null, amount: undefined, token_address: `0xb47e${'0'.repeat(33)}bbb` }),
  nft(43, { token_id: (2n ** 256n - 1n).toString() }),
];

/** In the form of 2025, numbers of money and all. The second is as bare as the upstream allows. */
export const walletTokens: readonly Payload[] = [
  {
    token_address: '0x4FABB145D64652A948D72533023F6E7A623C7C53',
    symbol: 'BUSD',
    name: 'BUSD',
    logo,
    thumbnail: logo,
    decimals: 18,
    balance: '2102143890000000000',
    possible_spam: false,
    verified_contract: true,
    total_supply: '55026240205945520000000000',
    percentage_relative_to_total_supply: 3.820257175726e-6,
    security_score: 62,
    balance_formatted: '2.10214389',
    usd_price: 0.9983994603822535,
    native_token: false,
    portfolio_percentage: 22.961384384089797,
  },
  { token_address: token, symbol: null, name: null, decimals: '1', balance: '7' },
];
