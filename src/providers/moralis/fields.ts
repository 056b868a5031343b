import { z } from 'zod';
import { maxPositionLength } from '../shared/provider.ts';
import { listOfFitting, repaired } from './repairs.ts';

// The upstream writes amounts, block numbers and gas as decimal texts; they stay texts here. Some answers have numbers.
export const decimal = z.union([z.string().regex(/^\d+$/), z.int().nonnegative().transform(String)]);

/** A decimal that our answers may have as null; an empty text is none. */
export const decimalOrNull = (field: string) =>
  repaired(
    field,
    z
      .union([decimal, z.literal('')])
      .nullish()
      .transform((text) => text || null),
    null,
  );

/** An address, in lower case; older answers write it with a checksum. */
export const addressField = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => text.toLowerCase());

/** The recipient: null, empty or missing when the transaction created a contract. */
export const recipient = z
  .union([addressField, z.literal('')])
  .nullish()
  .transform((text) => text || null);

export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((text) => text.toLowerCase());

/** A text that our answers always have, null when the upstream has none. */
export const textOrNull = z
  .string()
  .nullish()
  .catch(null)
  .transform((text) => text ?? null);

/**
 * Missing for collections older than the standard, such as CryptoPunks, whose tokens are all unique; null for a new
 * collection.
 */
export const contractType = repaired<z.ZodType<'ERC721' | 'ERC1155' | null>>(
  'contract_type',
  z
    .enum(['ERC721', 'ERC1155'])
    .nullish()
    .transform((type) => type ?? 'ERC721'),
  null,
);

const truth = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]);

export const flag = (field: string) =>
  repaired(
    field,
    truth.nullish().transform((value) => value ?? false),
    false,
  );

/** A flag that our answers only have when the upstream has it. */
export const optionalFlag = (field: string) => repaired(field, truth.nullish(), null);

/** A time in RFC 3339, converted to UTC with milliseconds. */
export const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());

/** Where the next page begins; null, empty or missing on the last page. */
const position = z
  .string()
  .max(maxPositionLength)
  .regex(/^[\x21-\x7e]*$/)
  .nullish()
  .transform((text) => text || undefined);

/**
 * The envelope of the lists, without the upstream's counts. Entries that do not fit are left out and counted, so that
 * they do not close the pages behind them.
 * @param most entries of a page
 */
export const envelope = <T extends z.ZodType>(item: T, most: number) =>
  z.object({ cursor: position, result: z.array(z.unknown()).max(most) }).transform(({ cursor, result }) => {
    const fitting = listOfFitting('result', item).parse(result);
    return { cursor, result: fitting, leftOut: result.length - fitting.length };
  });
