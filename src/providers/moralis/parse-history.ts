import { z } from 'zod';
import { normalizedMetadata } from '../shared/normalized-metadata.ts';
import { optionalText } from '../shared/optional-fields.ts';
import { historyCategories } from '../shared/provider.ts';
import {
  addressField,
  contractType,
  decimal,
  decimalOrNull,
  flag,
  hash,
  instant,
  optionalFlag,
  recipient,
  textOrNull,
} from './fields.ts';
import { listOfFitting, repaired } from './repairs.ts';

/** Sender and recipient of a transfer, with their entries in the upstream's address book. */
const parties = {
  from_address: addressField,
  from_address_label: optionalText,
  from_address_entity: optionalText,
  from_address_entity_logo: optionalText,
  to_address: recipient,
  to_address_label: optionalText,
  to_address_entity: optionalText,
  to_address_entity_logo: optionalText,
};
// Absent in older answers; what it says of a transfer from a wallet to itself is not known.
const direction = z.string().nullish().catch(null);
const logIndex = z.union([z.int().nonnegative(), decimal.transform(Number)]);

const nativeTransfer = z.object({
  ...parties,
  value: decimal,
  value_formatted: z.string().nullish().catch(null),
  direction,
  internal_transaction: flag('internal_transaction'),
  token_symbol: z.string().nullish().catch(null),
  token_logo: textOrNull,
});

const erc20Transfer = z.object({
  token_name: textOrNull,
  token_symbol: textOrNull,
  token_logo: textOrNull,
  // A text here and a number in other answers of the upstream.
  token_decimals: decimalOrNull('token_decimals'),
  address: addressField,
  block_timestamp: repaired('block_timestamp', instant.nullish(), null),
  ...parties,
  value: decimal,
  value_formatted: textOrNull,
  direction,
  log_index: logIndex,
  possible_spam: flag('possible_spam'),
  verified_contract: flag('verified_contract'),
});

const nftTransfer = z.object({
  token_address: addressField,
  token_id: decimal,
  token_name: optionalText,
  token_symbol: optionalText,
  ...parties,
  value: decimalOrNull('value'),
  amount: decimal.nullish().transform((amount) => amount ?? '1'),
  contract_type: contractType,
  transaction_type: z
    .string()
    .nullish()
    .catch(null)
    .transform((type) => type ?? 'Single'),
  log_index: logIndex,
  operator: repaired('operator', recipient, null),
  direction,
  possible_spam: flag('possible_spam'),
  verified_collection: optionalFlag('verified_collection'),
  collection_logo: optionalText,
  collection_banner_image: optionalText,
  normalized_metadata: normalizedMetadata,
});

/** A transaction of a history as the upstream sends it. */
export const upstreamTransaction = z.object({
  hash,
  nonce: decimalOrNull('nonce'),
  transaction_index: decimalOrNull('transaction_index'),
  from_address: addressField,
  to_address: recipient,
  value: decimal,
  gas: decimalOrNull('gas'),
  gas_price: decimalOrNull('gas_price'),
  receipt_gas_used: decimalOrNull('receipt_gas_used'),
  receipt_status: repaired('receipt_status', decimal.pipe(z.enum(['0', '1'])).nullable(), null),
  transaction_fee: optionalText,
  block_timestamp: instant,
  block_number: decimal,
  block_hash: hash,
  category: repaired('category', z.enum(historyCategories), 'contract interaction'),
  method_label: optionalText,
  possible_spam: optionalFlag('possible_spam'),
  summary: repaired('summary', z.string().min(1), ''),
  native_transfers: listOfFitting('native_transfers', nativeTransfer),
  erc20_transfers: listOfFitting('erc20_transfers', erc20Transfer),
  nft_transfers: listOfFitting('nft_transfers', nftTransfer),
});

/** A validated transaction of the upstream; optional fields may still be missing. */
export type UpstreamTransaction = z.output<typeof upstreamTransaction>;
