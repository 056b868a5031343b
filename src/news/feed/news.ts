import { documents } from '../../contract/documents.ts';
import type { components } from '../../contract/generated/news.ts';

/** What happened, as the contract names it. */
export type NewsType = components['schemas']['NewsType'];

const schema = documents.news.components?.['schemas']?.['NewsType'];

export const newsTypes = (schema as { readonly enum: readonly string[] }).enum; // as the document has it

export const isNewsType = (text: string): text is NewsType => newsTypes.includes(text);

/** One piece of news that has its number. */
export type News = {
  readonly id: string;
  readonly type: NewsType;
  /** The id of the NFT, event or endpoint that it is about. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  /** Its number among the news of the company. */
  readonly position: number;
  /** That of the news before it of the same subject, among the types asked for. */
  readonly previous: number | null;
};

/** Wakes the readers who wait for news; the payload is the id of a company that has some. */
export const newsChannel = 'tallystick_news';
