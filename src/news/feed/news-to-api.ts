import type { components } from '../../contract/generated/news.ts';
import { feedCursor } from './feed-cursor.ts';
import { placeOf } from './feed-store.ts';
import type { News } from './news.ts';

type Schemas = components['schemas'];

/** Base paths of the areas whose records news are about. */
export type RecordPaths = { readonly rwa: string; readonly events: string; readonly news: string };

/** Converts news to the contract's form, which the feed and the bodies of webhooks have. */
export function newsToApi(
  news: News,
  {
    companyId,
    epoch,
    paths,
  }: { readonly companyId: string; readonly epoch: string; readonly paths: RecordPaths },
): Schemas['News'] {
  const { id, type, createdAt, data, position, previous } = news;
  return {
    id,
    type,
    timestamp: createdAt.toISOString(),
    // Triggers write what the document names.
    data: { ...(data as Partial<Schemas['NewsData']>), href: hrefOf(news, paths) },
    sequence: position,
    previous,
    cursor: feedCursor(companyId, placeOf({ id, position }, epoch)),
  };
}

function hrefOf({ type, subject }: News, paths: RecordPaths): string {
  if (type.startsWith('nft.')) return `${paths.rwa}/nft/${subject}`;
  if (type.startsWith('endpoint.')) return `${paths.news}/endpoint/${subject}`;
  return `${paths.events}/event/${subject}`;
}
