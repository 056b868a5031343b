import type { components } from '../../contract/generated/news.ts';
import type { NewsType } from '../feed/news.ts';

export type DisabledReason = NonNullable<components['schemas']['DisabledReason']>;

/** An address of a company that news are sent to. */
export type Endpoint = {
  readonly id: string;
  readonly companyId: string;
  /** As it is stored: its host in clear, path and query sealed. An address that release 0.2.0 stored is in clear. */
  readonly address: string;
  /** Null for all. */
  readonly types: readonly NewsType[] | null;
  /** Sealed, the newest first. */
  readonly secrets: readonly string[];
  /** Until when a second secret signs, too. */
  readonly previousUntil: Date | null;
  /** News up to this number are among its deliveries, or are not for it. */
  readonly position: number;
  readonly disabledReason: DisabledReason | null;
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** What became of one piece of news at one endpoint. */
export type Delivery = {
  readonly position: number;
  readonly newsId: string;
  readonly type: NewsType;
  readonly delivered: boolean;
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly attemptedAt: Date | null;
  readonly nextAttemptAt: Date;
};
