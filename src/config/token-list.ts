import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { errorCode } from '../base/thrown.ts';

// The form of tokenlists.org, as far as it matters here.
const form = z.object({
  tokens: z.array(
    z.object({
      chainId: z.number().int().positive(),
      address: z.string().regex(/^0x[0-9a-f]{40}$/i, 'must be an address'),
      symbol: z.string(),
    }),
  ),
});

/** A token that the operator vouches for. */
type ListedToken = z.infer<typeof form>['tokens'][number];

/** The path of a token list, which is read. */
export const tokenListFile = z.string().transform((path, context): readonly ListedToken[] => {
  try {
    const read = form.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (read.success) return read.data.tokens;
    const [first] = read.error.issues;
    context.addIssue(`is no token list (https://tokenlists.org): ${first?.path.join('.')} ${first?.message}`);
  } catch (error) {
    context.addIssue(`cannot be read (${errorCode(error) ?? 'it is no JSON'})`);
  }
  return z.NEVER;
});
