import { maxMetadataBytes } from '../shared/kept-metadata.ts';
import { normalizedMetadata } from '../shared/normalized-metadata.ts';
import type { NftEntry } from '../shared/provider.ts';

// As much as a page of an index has.
const maxPageBytes = 2 * 1024 * 1024;

/**
 * Cuts the texts of a page, which contracts chose, to what a page of an index may have. The upstream's cursor goes on
 * behind the whole page, so no NFT is left out: an NFT that no longer fits stays without its metadata.
 */
export function boundNfts(entries: readonly NftEntry[]): NftEntry[] {
  let left = maxPageBytes;
  return entries.map((entry) => {
    const kept = cut(entry, maxMetadataBytes);
    const bytes = Buffer.byteLength(JSON.stringify(kept));
    if (bytes > left) return withoutMetadata(kept);
    left -= bytes;
    return kept;
  });
}

function cut(entry: NftEntry, maxBytes: number): NftEntry {
  const { normalized_metadata: normalized, ...rest } = entry;
  const isLarge = Buffer.byteLength(JSON.stringify(normalized) ?? '') > maxBytes;
  const kept = isLarge ? normalizedOf(entry.metadata) : normalized;
  return {
    ...rest,
    token_uri: shortened(entry.token_uri, maxBytes),
    name: shortened(entry.name, maxBytes),
    symbol: shortened(entry.symbol, maxBytes),
    ...(kept == null ? {} : { normalized_metadata: kept }),
  };
}

function withoutMetadata(entry: NftEntry): NftEntry {
  const { normalized_metadata: _, ...rest } = cut(entry, shownLength);
  return { ...rest, metadata: entry.metadata === null ? null : '{"_truncated":["*"]}' };
}

/** The uniform shape of metadata that were cut themselves. */
function normalizedOf(metadata: string | null): NftEntry['normalized_metadata'] {
  try {
    return normalizedMetadata.parse(JSON.parse(metadata ?? 'null')) ?? undefined;
  } catch {
    return undefined;
  }
}

const shownLength = 128;

/** Some URIs contain the metadata themselves. */
const shortened = (text: string | null, maxBytes: number) =>
  text === null || Buffer.byteLength(text) <= maxBytes
    ? text
    : `${text.slice(0, shownLength).toWellFormed()}…`;
