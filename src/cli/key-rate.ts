import type { Command } from 'commander';
import type { KeyRateLimit } from '../keys/key-store.ts';
import { UsageError } from './shared/failure.ts';
import { wholeNumber } from './shared/values.ts';

export type RateOptions = { rate?: number; burst?: number };

export const withRateOptions = (command: Command) =>
  command
    .option(
      '--rate <n>',
      "average requests a second; the service's default otherwise",
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--burst <n>',
      'concurrent requests, not below --rate; twice --rate by default',
      wholeNumber(1, 2_000_000),
    );

/** @returns undefined when no limit was given */
export function rateLimitOf({ rate, burst }: RateOptions): KeyRateLimit | undefined {
  if (rate === undefined && burst !== undefined) throw new UsageError('--burst needs --rate.');
  if (rate === undefined) return undefined;
  if (burst !== undefined && burst < rate) throw new UsageError('--burst must not be below --rate.');
  return { perSecond: rate, burst: burst ?? rate * 2 };
}
