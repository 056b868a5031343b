import { z } from 'zod';
import { formatUnits } from '../../chain/decimal.ts';
import { maxPositionLength, type WalletToken } from '../shared/provider.ts';
import { addressField, decimal, decimalOrNull, envelope, flag, optionalFlag, textOrNull } from './fields.ts';
import { readUpstreamAnswer } from './read-answer.ts';
import type { OnRepair } from './repairs.ts';

// The upstream sends a text of 39 digits for its native asset, which is asked not to be there.
const native = z.object({ native_token: z.literal(true) }).transform(() => undefined);

const token = z
  .object({
    token_address: addressField,
    name: textOrNull,
    symbol: textOrNull,
    decimals: decimalOrNull('decimals').transform((text) =>
      text === null || Number(text) > 255 ? null : Number(text),
    ),
    logo: textOrNull,
    balance: decimal,
    balance_formatted: z.string().nullish().catch(null),
    possible_spam: flag('possible_spam'),
    verified_contract: optionalFlag('verified_contract'),
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
export function parseTokens(answer: unknown, limit: number, onRepair: OnRepair): ParsedTokens {
  const entry = z.union([native, token]);
  const form = envelope(entry, { records: limit + 1, position: maxPositionLength });
  const list = readUpstreamAnswer(form, answer, onRepair);
  return { entries: list.result.filter((each) => each !== undefined), next: list.cursor };
}
