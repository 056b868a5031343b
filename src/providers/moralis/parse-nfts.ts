import { z } from 'zod';
import { keptMetadata, keptMetadataText } from '../shared/kept-metadata.ts';
import { normalizedMetadata } from '../shared/normalized-metadata.ts';
import { optionalNumber, optionalText } from '../shared/optional-fields.ts';
import type { NftEntry } from '../shared/provider.ts';
import {
  addressField,
  contractType,
  decimal,
  decimalOrNull,
  flag,
  instant,
  optionalFlag,
  textOrNull,
} from './fields.ts';

const metadataText = (value: unknown): string | null => {
  if (typeof value === 'string') return value === '' ? null : keptMetadataText(value);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? keptMetadata(value) : null;
};

const whenSynced = instant
  .nullish()
  .catch(null)
  .transform((text) => text ?? null);

/** An NFT as the upstream sends it, in the contract's shape. */
export const upstreamNft = z
  .object({
    token_address: addressField,
    token_id: decimal,
    contract_type: contractType,
    owner_of: addressField,
    // Missing for a token that exists once.
    amount: decimal.nullish().transform((amount) => amount ?? '1'),
    block_number: decimalOrNull('block_number'),
    block_number_minted: decimalOrNull('block_number_minted'),
    token_hash: textOrNull,
    name: textOrNull,
    symbol: textOrNull,
    token_uri: textOrNull,
    // A text, or the object itself.
    metadata: z.unknown().optional().transform(metadataText),
    normalized_metadata: normalizedMetadata,
    last_token_uri_sync: whenSynced,
    last_metadata_sync: whenSynced,
    minter_address: optionalText,
    possible_spam: flag('possible_spam'),
    verified_collection: optionalFlag('verified_collection'),
    rarity_rank: optionalNumber,
    rarity_percentage: optionalNumber,
    rarity_label: optionalText,
    floor_price: optionalText,
    floor_price_usd: optionalText,
    floor_price_currency: optionalText,
  })
  .transform(
    ({ normalized_metadata: normalized, verified_collection: verified, ...rest }): NftEntry => ({
      ...rest,
      ...(normalized == null ? {} : { normalized_metadata: normalized }),
      ...(verified == null ? {} : { verified_collection: verified }),
    }),
  );
