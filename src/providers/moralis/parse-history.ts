import { z } from 'zod';
import { normalizedMetadata } from '../shared/normalized-metadata.ts';
import { listField, optionalText } from '../shared/optional-fields.ts';
import { maxPositionLength } from '../shared/provider.ts';
import {
  addressField,
  contractType,
  decimal,
  envelope,
  flag,
  hash,
  instant,
  recipient,
  textOrNull,
} from './fields.ts';
import { readUpstreamAnswer } from './read-answer.ts';

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
const direction = z.string().nullish();
const logIndex = z.int().nonnegative();

const nativeTransfer = z.object({
  ...parties,
  value: decimal,
  value_formatted: z.string().nullish(),
  direction,
  internal_transaction: flag,
  token_symbol: z.string().nullish(),
  token_logo: textOrNull,
});

const erc20Transfer = z.object({
  token_name: textOrNull,
  token_symbol: textOrNull,
  token_logo: textOrNull,
  // A text here and a number in other answers of the upstream.
  token_decimals: z
    .union([decimal, z.int().nonnegative().transform(String)])
    .nullish()
    .transform((decimals) => decimals ?? null),
  address: addressField,
  block_timestamp: instant.nullish(),
  ...parties,
  value: decimal,
  value_formatted: textOrNull,
  direction,
  log_index: logIndex,
  possible_spam: flag,
  verified_contract: flag,
});

const nftTransfer = z.object({
  token_address: addressField,
  token_id: decimal,
  token_name: optionalText,
  token_symbol: optionalText,
  ...parties,
  value: decimal.nullish(),
  amount: decimal.nullish().transform((amount) => amount ?? '1'),
  contract_type: contractType,
  transaction_type: z
    .string()
    .nullish()
    .transform((type) => type ?? 'Single'),
  log_index: logIndex,
  operator: recipient,
  direction,
  possible_spam: flag,
  verified_collection: z.boolean().nullish(),
  collection_logo: optionalText,
  collection_banner_image: optionalText,
  normalized_metadata: normalizedMetadata,
});

const transaction = z.object({
  hash,
  nonce: decimal,
  transaction_index: decimal,
  from_address: addressField,
  to_address: recipient,
  value: decimal,
  gas: decimal.nullish().transform((gas) => gas ?? null),
  gas_price: decimal,
  receipt_gas_used: decimal.nullish(),
  receipt_status: z.enum(['0', '1']),
  transaction_fee: optionalText,
  block_timestamp: instant,
  block_number: decimal,
  block_hash: hash,
  category: z.enum([
    'send',
    'receive',
    'token send',
    'token receive',
    'nft send',
    'nft receive',
    'token swap',
    'deposit',
    'withdraw',
    'nft purchase',
    'nft sale',
    'airdrop',
    'mint',
    'burn',
    'borrow',
    'approve',
    'revoke',
    'contract interaction',
  ]),
  method_label: optionalText,
  possible_spam: z.boolean().nullish(),
  summary: z.string(),
  native_transfers: listField(nativeTransfer),
  erc20_transfers: listField(erc20Transfer),
  nft_transfers: listField(nftTransfer),
});

/** A validated transaction of the upstream; optional fields may still be missing. */
export type UpstreamTransaction = z.output<typeof transaction>;

/** One page of a history as the upstream sent it. */
export type ParsedHistory = {
  readonly transactions: readonly UpstreamTransaction[];
  readonly next: string | undefined;
};

/** @throws UpstreamFault that names the fields that do not match */
export function parseHistory(answer: unknown, limit: number): ParsedHistory {
  const list = readUpstreamAnswer(
    envelope(transaction, { records: limit, position: maxPositionLength }),
    answer,
  );
  return { transactions: list.result, next: list.cursor };
}
