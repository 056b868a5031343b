import { z } from 'zod';
import { formatUnits } from '../../chain/decimal.ts';
import type { WalletToken } from '../shared/provider.ts';
import { addressField, decimal, decimalOrNull, flag, optionalFlag, textOrNull } from './fields.ts';

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

/** A token as the upstream sends it, in the contract's shape; undefined for the native asset. */
export const upstreamToken = z.union([native, token]);
