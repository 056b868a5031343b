import { z } from 'zod';

// The upstream writes amounts, block numbers and gas as decimal texts; they stay texts here.
export const decimal = z.string().regex(/^\d+$/);

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
  .transform((text) => text ?? null);

/** Null for collections older than the standard, such as CryptoPunks, whose tokens are all unique. */
export const contractType = z
  .enum(['ERC721', 'ERC1155'])
  .nullish()
  .transform((type) => type ?? 'ERC721');

export const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

/** A time in RFC 3339, converted to UTC with milliseconds. */
export const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());

/** Where the next page begins; null, empty or missing on the last one. */
const position = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[\x21-\x7e]*$/)
    .nullish()
    .transform((text) => text || undefined);

/** The envelope of both lists, without the upstream's counts. */
export const envelope = <T extends z.ZodType>(item: T, limits: { records: number; position: number }) =>
  z.object({ cursor: position(limits.position), result: z.array(item).max(limits.records) });
