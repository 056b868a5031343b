import { z } from 'zod';
import { checksumAddress, isZeroAddress } from '../../chain/address.ts';
import { nameFault } from '../../contract/visible-text.ts';
import { freeDataFault } from './free-data.ts';

/** A fault of one field of an RWA. `field` is a path such as `contractAddress`, empty for the whole. */
export type FieldError = { readonly field: string; readonly message: string };

/** A new RWA, checked: what the operator may set. */
export type RwaInput = z.output<typeof shape>;

const text = (max: number) =>
  z
    .string({ error: 'must be text' })
    .trim()
    .min(1, { abort: true, error: 'must not be empty' })
    .max(max, `must be at most ${max} characters`)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\0'),
      'must be well-formed Unicode without NUL',
    );

const name = text(255).superRefine((value, context) => {
  const fault = nameFault(value);
  if (fault !== undefined) context.addIssue(fault);
});

// A CSV has no null: an empty cell is an absent value.
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === undefined || value === '' ? null : value), schema.nullable());

const httpUrl = text(2_048).pipe(z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }));

const flag = z.preprocess(
  (value) => {
    if (value === undefined || value === null || value === '') return false;
    return value === 'true' ? true : value === 'false' ? false : value;
  },
  z.boolean({ error: 'must be true or false' }),
);

const chainId = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string({ error: 'must be a chain id' }).regex(/^[1-9]\d{0,15}$/, 'must be a decimal chain id'),
);

const address = z
  .string({ error: 'must be an address' })
  .regex(/^0x[0-9a-fA-F]{40}$/, { abort: true, error: 'must be 0x and 40 hex digits' })
  .transform((value, context) => {
    const checked = checksumAddress(value);
    if (checked !== undefined && !isZeroAddress(checked)) return checked;
    context.addIssue(checked === undefined ? 'has a wrong EIP-55 checksum' : 'must not be the zero address');
    return z.NEVER;
  });

// A JSON number would have lost digits before it gets here.
const price = z
  .string({ error: 'must be a decimal number as text' })
  .regex(/^\d{1,30}(\.\d{1,18})?$/, 'must be a decimal number such as 1250.00, not negative');

const currency = z
  .string({ error: 'must be text' })
  .regex(/^[A-Za-z0-9.$₮-]{1,32}$/, 'must be an ISO 4217 code or a token symbol');

const parseJson = (value: unknown) => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const freeData = z.preprocess(
  parseJson,
  z.record(z.string(), z.unknown(), { error: 'must be a JSON object' }).superRefine((value, context) => {
    const fault = freeDataFault(value);
    if (fault !== undefined) context.addIssue(fault);
  }),
);

const shape = z
  .strictObject({
    name,
    description: optional(text(10_000)),
    type: text(255),
    imageUrl: optional(httpUrl),
    chainId,
    contractAddress: address,
    isBuyable: flag,
    isClaimable: flag,
    price: optional(price),
    currency: optional(currency),
    data: optional(freeData),
    claimPage: flag,
    claimBaseUrl: optional(httpUrl),
  })
  .refine(({ price, currency }) => price === null || currency !== null, {
    path: ['currency'],
    error: 'is needed with a price',
  });

/**
 * Validates the input of an operator, from options, JSON or CSV. All values of a CSV are text: `true` and
 * `false` are read as flags, `data` as JSON and an empty cell as no value.
 */
export function parseRwaInput(
  raw: unknown,
): { ok: true; input: RwaInput } | { ok: false; errors: FieldError[] } {
  const parsed = shape.safeParse(raw);
  if (parsed.success) return { ok: true, input: parsed.data };
  return { ok: false, errors: parsed.error.issues.flatMap((issue) => toFieldErrors(issue, raw)) };
}

function toFieldErrors(issue: z.core.$ZodIssue, raw: unknown): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((field) => ({ field, message: 'is not a field of an RWA' }));
  }
  const isMissing = issue.code === 'invalid_type' && isAbsent(raw, issue.path);
  return [{ field: issue.path.join('.'), message: isMissing ? 'is required' : issue.message }];
}

/** Whether a field of the input is absent or null. */
function isAbsent(raw: unknown, [field, ...rest]: readonly PropertyKey[]): boolean {
  if (field === undefined || rest.length > 0) return false;
  if (typeof raw !== 'object' || raw === null) return false;
  return (Object.entries(raw).find(([name]) => name === field)?.[1] ?? null) === null;
}
