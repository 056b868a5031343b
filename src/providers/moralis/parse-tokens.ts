import { z } from 'zod';
import { formatUnits } from '../../chain/decimal.ts';
import { maxPositionLength, type WalletToken } from '../shared/provider.ts';
import { addressField, decimal, envelope, flag, textOrNull } from './fields.ts';
import { readUpstreamAnswer } from './read-answer.ts';

// The upstream sends a text of 39 digits for its native asset, which is asked not to be there.
const native = z.object({ native_token: z.literal(true) }).transform(() => undefined);

const token = z
  .object({
    token_address: addressField,
    name: textOrNull,
    symbol: textOrNull,
    decimals: z
      .union([z.int(), decimal.transform(Number)])
      .nullish()
      .transform((decimals) => (decimals == null || decimals < 0 || decimals > 255 ? null : decimals)),
    logo: textOrNull,
    balance: decimal,
    balance_formatted: z.string().nullish(),
    possible_spam: flag,
    verified_contract: z.boolean().nullish(),
  })
  .transform(
    ({ balance_formatted: formatted, verified_contract: verified, ...rest }): WalletToken => ({
      ...rest,
      balance_formatted:
        formatted ?? (rest.decimals === null ? null : formatUnits(BigInt(rest.balance), rest.decimals)),
      ...(verified == null ? {} : { verified_contract: verified }),
    }),
  );

/** One page of a wallet's tokens as the upstream sent it, in the contract's shape. */
type ParsedTokens = { readonly entries: readonly WalletToken[]; readonly next: string | undefined };

/** @throws UpstreamFault that names the fields that do not match */
export function parseTokens(answer: unknown, limit: number): ParsedTokens {
  const entry = z.union([native, token]);
  const list = readUpstreamAnswer(
    envelope(entry, { records: limit + 1, position: maxPositionLength }),
    answer,
  );
  return { entries: list.result.filter((each) => each !== undefined), next: list.cursor };
}
